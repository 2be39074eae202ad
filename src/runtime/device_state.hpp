#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend.hpp"

#include "teeny/lang/instance.hpp"

namespace teeny::detail {

/// Error(usage) for a kernel with run-time members that are not among its declared variants.
void check_declared(const KernelInstance& instance);

/// A device as all its handles share it: the backend, and the kernels that are loaded.
class DeviceState {
 public:
  explicit DeviceState(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
  [[nodiscard]] Backend& backend() const noexcept { return *backend_; }

  /// The loaded kernel; found, or compiled, and loaded by the first who asks. Others who ask for
  /// the same one wait; those who ask for another do not.
  [[nodiscard]] LoadedKernel& kernel(const KernelInstance& instance, const void* tag);

 private:
  struct Entry {
    std::mutex mutex;
    std::unique_ptr<LoadedKernel>
        kernel;  // stays null when loading failed: the next launch tries again
  };

  std::unique_ptr<Backend> backend_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> kernels_;
};

}  // namespace teeny::detail
