#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../backend.hpp"
#include "cpu_kernel.hpp"
#include "thread_pool.hpp"

#include "teeny/runtime/grid.hpp"

namespace teeny::detail {

/// This machine's processor as a device: its memory is the host's, and work is done when the call
/// that asks for it returns.
class CpuBackend : public Backend {
 public:
  CpuBackend();

  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::cpu; }
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::optional<DeviceFacts> facts() const override { return std::nullopt; }
  [[nodiscard]] const DeviceAttributes& attributes() const override { return attributes_; }
  [[nodiscard]] MemoryInfo memory() const override;
  [[nodiscard]] Target compile_target() const override;
  [[nodiscard]] Artifact choose(const std::string& kernel,
                                const std::vector<std::filesystem::path>& candidates,
                                const std::string& where) const override;
  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact,
                                                   const std::filesystem::path& path) override;

  [[nodiscard]] Block allocate(std::size_t bytes, Memory memory, bool guarded) override;
  void release(const Block& block, std::size_t bytes, Memory memory,
               bool guarded) noexcept override;
  [[nodiscard]] void* allocate_host(std::size_t bytes) override;
  void release_host(void* host) noexcept override;
  void check_foreign(u64, std::size_t) const override {}  // all of the process is its memory

  [[nodiscard]] std::shared_ptr<StreamState> make_stream(DeviceState& device,
                                                         bool is_default) override;
  [[nodiscard]] std::shared_ptr<StreamState> wrap_stream(DeviceState& device,
                                                         void* native) override;
  [[nodiscard]] std::shared_ptr<EventState> make_event(DeviceState& device) override;
  [[nodiscard]] std::string finish() override { return {}; }
  void trim() override {}

  /// Runs every program of the grid. One launch at a time; others wait.
  void run(const CpuKernel& kernel, const Grid& grid, const void* const* values);

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  void reserve_scratch(std::size_t bytes, i64 programs);

  ThreadPool pool_;
  DeviceAttributes attributes_;
  std::mutex launch_;
  std::vector<std::unique_ptr<void, Free>> scratch_;
  std::vector<std::size_t> sizes_;
};

}  // namespace teeny::detail
