#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "../backend.hpp"
#include "driver.hpp"
#include "stream_pool.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

/// One CUDA device, by its primary context, which the CUDA runtime and other libraries share.
class CudaBackend : public Backend {
 public:
  explicit CudaBackend(int ordinal);
  ~CudaBackend() override;

  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::cuda; }
  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(ordinal_); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::optional<DeviceFacts> facts() const override { return facts_; }
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
  void check_foreign(u64 address, std::size_t bytes) const override;

  [[nodiscard]] std::shared_ptr<StreamState> make_stream(DeviceState& device,
                                                         bool is_default) override;
  [[nodiscard]] std::shared_ptr<StreamState> wrap_stream(DeviceState& device,
                                                         void* native) override;
  [[nodiscard]] std::shared_ptr<EventState> make_event(DeviceState& device) override;
  [[nodiscard]] std::string finish() override;
  void trim() override;

  [[nodiscard]] const cuda::Driver& driver() const noexcept { return driver_; }
  [[nodiscard]] cuda::Context context() const noexcept { return context_; }
  [[nodiscard]] cuda::DeviceNumber number() const noexcept { return device_; }

  /// Device memory in a stream's order.
  [[nodiscard]] u64 pool_allocate(std::size_t bytes, cuda::Stream stream);
  void pool_release(u64 address, cuda::Stream stream) noexcept;

  /// Error(environment) saying how much was wanted and how much is free.
  [[nodiscard]] Error no_memory(std::size_t bytes, Memory memory, cuda::Result result) const;
  /// Once a process: code for an older chip leaves this one's Tensor Cores idle.
  void note_idle(Capability code);

 private:
  [[nodiscard]] int attribute(cuda::DeviceAttribute which) const;
  void read_attributes();
  /// The driver's pool, made by the first who asks.
  [[nodiscard]] cuda::MemoryPool pool();
  /// Does `allocate`, once more with the pools emptied when memory ran out.
  template <class Allocate>
  cuda::Result with_trim(Allocate allocate);

  const cuda::Driver& driver_;
  int ordinal_;
  cuda::DeviceNumber device_ = 0;
  std::string chip_;
  DeviceFacts facts_{Capability(0, 0), {}, false};
  DeviceAttributes attributes_;
  cuda::Context context_ = nullptr;
  std::mutex pool_making_;
  std::atomic<cuda::MemoryPool> pool_{nullptr};  // where the driver has pools: made when wanted
  std::unique_ptr<StreamPool> own_pool_;         // where it has none
  std::once_flag idle_noted_;
};

/// Makes a device's context the calling thread's while it lives. A context that another library
/// made current is put back afterwards; where there was none, ours stays.
class Entered {
 public:
  explicit Entered(const CudaBackend& backend) : driver_(backend.driver()) {
    cuda::Context current = nullptr;
    if (driver_.context_get(&current) == 0 && current == backend.context()) return;
    if (current == nullptr) {
      result_ = driver_.context_set(backend.context());
    } else {
      result_ = driver_.context_push(backend.context());
      pushed_ = result_ == 0;
    }
  }
  ~Entered() {
    if (!pushed_) return;
    cuda::Context popped = nullptr;
    driver_.context_pop(&popped);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  [[nodiscard]] bool good() const noexcept { return result_ == 0; }
  /// Error(environment) when the context cannot be used.
  const Entered& or_throw(const CudaBackend& backend) const {
    if (result_ != 0) refuse(backend);
    return *this;
  }

 private:
  [[noreturn]] void refuse(const CudaBackend& backend) const;

  const cuda::Driver& driver_;
  cuda::Result result_ = 0;
  bool pushed_ = false;
};

}  // namespace teeny::detail
