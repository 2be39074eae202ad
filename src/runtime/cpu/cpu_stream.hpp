#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../stream_state.hpp"
#include "cpu_backend.hpp"

namespace teeny::detail {

/// Work is done when it is asked for, on the caller's thread, one thing at a time. That is an order
/// which any program that waits where it must allows.
class CpuStream : public StreamState {
 public:
  CpuStream(DeviceState& device, CpuBackend& backend) : StreamState(device), backend_(backend) {}

  void launch(LoadedKernel& kernel, const Grid& grid, const void* const* values) override;
  void copy_in(u64 to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, u64 from, std::size_t bytes) override;
  void copy(u64 to, u64 from, std::size_t bytes) override;
  void copy_between(DeviceState&, u64 to, DeviceState&, u64 from, std::size_t bytes) override;
  void fill(u64 to, u8 value, std::size_t bytes) override;
  void prefetch(u64, std::size_t) override {}
  [[nodiscard]] u64 allocate(std::size_t bytes) override;
  void release(u64 address) noexcept override;

  void record(EventState& event) override;
  void wait(EventState& event) override;
  [[nodiscard]] bool done(std::string*) override { return true; }
  [[nodiscard]] std::string finish() override { return {}; }

  void begin_capture() override;
  [[nodiscard]] std::shared_ptr<GraphState> end_capture(bool wanted) override;

 private:
  /// Does it, or records it.
  void ask(std::function<void()> work);

  CpuBackend& backend_;
  std::mutex mutex_;
};

/// A moment.
class CpuEvent : public EventState {
 public:
  explicit CpuEvent(DeviceState& device) : EventState(device) {}
  [[nodiscard]] bool done(std::string*) override { return true; }
  [[nodiscard]] std::string finish() override { return {}; }
  [[nodiscard]] double since(EventState& from) override;
  void reach() { reached_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point reached_ = {};
};

}  // namespace teeny::detail
