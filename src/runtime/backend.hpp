#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "teeny/cache/artifact.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/runtime/grid.hpp"
#include "teeny/target/loading.hpp"

namespace teeny::detail {

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

/// What a kind of device can do. Work is in order: a copy or launch begins when all before it are
/// done; a copy to the host returns when the bytes are there. Thread-safe. Addresses are the
/// device's own.
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

  /// What to compile for when teenyc is at hand.
  [[nodiscard]] virtual Target compile_target() const = 0;
  /// The best of these artifact files, verified; the miss error when none fits. `where` is for that
  /// message.
  [[nodiscard]] virtual Artifact choose(const std::string& kernel,
                                        const std::vector<std::filesystem::path>& candidates,
                                        const std::string& where) const = 0;
  /// `path` is the file that `artifact` was read from.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact,
                                                           const std::filesystem::path& path) = 0;
  /// `values[i]` points at parameter i. The grid is within its limits.
  virtual void launch(LoadedKernel& kernel, const Grid& grid, void* const* values) = 0;

  [[nodiscard]] virtual u64 allocate(std::size_t bytes) = 0;  ///< 64-byte aligned at least
  virtual void release(u64 address) noexcept = 0;
  virtual void copy_in(u64 to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, u64 from, std::size_t bytes) = 0;
  virtual void copy(u64 to, u64 from, std::size_t bytes) = 0;
  virtual void fill(u64 to, u8 value, std::size_t bytes) = 0;
  virtual void synchronize() = 0;
};

[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend();
/// Error(environment) without a driver or such a device.
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(int ordinal);
/// Whether a CUDA driver answers and has a device; else `why` says what failed.
[[nodiscard]] bool cuda_answers(std::string* why);

}  // namespace teeny::detail
