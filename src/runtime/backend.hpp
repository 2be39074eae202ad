#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "teeny/cache/artifact.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/target/loading.hpp"

namespace teeny::detail {

class EventState;
class StreamState;

/// A kernel's code on a device, ready to be launched.
class LoadedKernel {
 public:
  explicit LoadedKernel(ArtifactInfo info) : info_(std::move(info)) {}
  virtual ~LoadedKernel() = default;
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  [[nodiscard]] const ArtifactInfo& info() const noexcept { return info_; }

 private:
  ArtifactInfo info_;
};

/// Memory as kernels and, where it can, the host addresses it.
struct Block {
  u64 address = 0;       ///< 0: kernels do not see it, or there is nothing
  void* host = nullptr;  ///< null: the host does not see it
  /// Where access is checked: another address of the host's pages, which stays open to workers and
  /// drivers while the host is locked out.
  void* backing = nullptr;
};

/// What a kind of device can do, but for the work itself, which streams do. Thread-safe.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual DeviceKind kind() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;                  ///< "cpu", "cuda:0"
  [[nodiscard]] virtual std::string description() const = 0;           ///< for people
  [[nodiscard]] virtual std::optional<DeviceFacts> facts() const = 0;  ///< CUDA only
  [[nodiscard]] virtual const DeviceAttributes& attributes() const = 0;
  [[nodiscard]] virtual MemoryInfo memory() const = 0;

  /// What to compile for when teenyc is at hand.
  [[nodiscard]] virtual Target compile_target() const = 0;
  /// The best of these artifact files, verified; the miss error when none fits. `where` is for that
  /// message.
  [[nodiscard]] virtual Artifact choose(const std::string& kernel,
                                        const std::vector<std::filesystem::path>& candidates,
                                        const std::string& where) const = 0;
  /// `path` is the file that `artifact` was read from. Destroying the result unloads it.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact,
                                                           const std::filesystem::path& path) = 0;

  /// 64-byte aligned at least, and free for every stream. `guarded` mapped memory has a host
  /// address whose pages the host can be locked out of while kernels use them (access_guard.hpp).
  [[nodiscard]] virtual Block allocate(std::size_t bytes, Memory memory, bool guarded) = 0;
  virtual void release(const Block& block, std::size_t bytes, Memory memory,
                       bool guarded) noexcept = 0;
  /// Page-locked memory for the host alone.
  [[nodiscard]] virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* host) noexcept = 0;
  /// Error(usage) unless kernels can use these bytes.
  virtual void check_foreign(u64 address, std::size_t bytes) const = 0;

  /// The streams of this device know `device`, which owns this backend.
  [[nodiscard]] virtual std::shared_ptr<StreamState> make_stream(DeviceState& device,
                                                                 bool is_default) = 0;
  [[nodiscard]] virtual std::shared_ptr<StreamState> wrap_stream(DeviceState& device,
                                                                 void* native) = 0;
  [[nodiscard]] virtual std::shared_ptr<EventState> make_event(DeviceState& device) = 0;
  /// Waits for all streams; what went wrong in their work, or an empty text.
  [[nodiscard]] virtual std::string finish() = 0;
  /// Gives pooled memory back.
  virtual void trim() = 0;
};

[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend();
/// Error(environment) without a driver or such a device.
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(int ordinal);
/// How many devices the CUDA driver has; 0 without a driver, and then `why` says what failed.
[[nodiscard]] int cuda_devices(std::string* why);

}  // namespace teeny::detail
