#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "access_guard.hpp"
#include "backend.hpp"
#include "stream_state.hpp"

#include "teeny/lang/instance.hpp"
#include "teeny/runtime/kernel_entry.hpp"

namespace teeny::detail {

/// Error(usage) for a kernel with run-time members that are not among its declared variants.
void check_declared(const KernelInstance& instance);

/// A device as all its handles share it: the backend, its default stream, and the kernels that were
/// launched. Lives as long as the process.
class DeviceState {
 public:
  explicit DeviceState(std::unique_ptr<Backend> backend);
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] const std::shared_ptr<StreamState>& default_stream() const noexcept {
    return default_stream_;
  }
  /// Null unless TEENY_CHECK_ACCESS=1 when the device was opened.
  [[nodiscard]] AccessGuard* guard() const noexcept { return guard_.get(); }

  [[nodiscard]] KernelEntry& entry(const KernelInstance& instance, const void* tag);
  /// Found, or compiled, and loaded by the first who asks. Others who ask for the same one wait;
  /// those who ask for another do not. Does nothing for what is loaded.
  LoadedKernel& load(KernelEntry& entry);
  void unload_kernels();

  std::atomic<bool> synchronous;

 private:
  struct Slot : KernelEntry {
    std::mutex mutex;
    std::unique_ptr<LoadedKernel> kernel;  // null when loading failed: the next launch tries again
  };

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<AccessGuard> guard_;
  std::shared_ptr<StreamState> default_stream_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Slot>> slots_;
};

}  // namespace teeny::detail
