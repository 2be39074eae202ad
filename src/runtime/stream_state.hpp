#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"

#include "teeny/base/error.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/runtime/grid.hpp"

namespace teeny::detail {

class GraphState;
class StreamState;

/// How far the streams of a process have come: for each stream at most one entry, its number and
/// how many launches and copies it was asked for. Kept only where host access is checked
/// (access_guard.hpp).
using Progress = std::vector<std::pair<u64, u64>>;

/// Error(environment): something that was asked for and not waited for went wrong.
[[nodiscard]] Error earlier_failure(const DeviceState& device, const std::string& failure);

/// What is recorded instead of done: shared by the streams that take part.
struct CaptureState {
  virtual ~CaptureState() = default;
  std::vector<std::shared_ptr<StreamState>> streams;  ///< the first began it
  /// Pooled memory that was let go meanwhile: given back afterwards, or the graph would do it.
  std::vector<std::pair<std::shared_ptr<StreamState>, u64>> freed;
};

/// A point in a stream's work.
class EventState {
 public:
  explicit EventState(DeviceState& device) : device_(&device) {}
  virtual ~EventState() = default;
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }

  /// False while it is not reached; `failure` receives what went wrong, if anything.
  [[nodiscard]] virtual bool done(std::string* failure) = 0;
  /// Waits; what went wrong, or an empty text.
  [[nodiscard]] virtual std::string finish() = 0;
  /// Milliseconds from `from`, an event of the same device; both are recorded and reached.
  [[nodiscard]] virtual double since(EventState& from) = 0;

  bool recorded = false;
  std::shared_ptr<CaptureState> capture;  ///< recorded in one: carries it to who waits
  Progress progress;

 private:
  DeviceState* device_;
};

/// A queue of work in order. Thread-safe but for captures. Addresses are of its device.
class StreamState : public std::enable_shared_from_this<StreamState> {
 public:
  explicit StreamState(DeviceState& device);
  virtual ~StreamState() = default;
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }

  /// `values[i]` points at the 8 bytes of parameter i. The grid is within its limits.
  virtual void launch(LoadedKernel& kernel, const Grid& grid, const void* const* values) = 0;
  virtual void copy_in(u64 to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, u64 from, std::size_t bytes) = 0;
  virtual void copy(u64 to, u64 from, std::size_t bytes) = 0;
  /// Between this and another device of its kind, in either direction.
  virtual void copy_between(DeviceState& to_device, u64 to, DeviceState& from_device, u64 from,
                            std::size_t bytes) = 0;
  virtual void fill(u64 to, u8 value, std::size_t bytes) = 0;
  virtual void prefetch(u64 address, std::size_t bytes) = 0;
  [[nodiscard]] virtual u64 allocate(std::size_t bytes) = 0;
  virtual void release(u64 address) noexcept = 0;

  virtual void record(EventState& event) = 0;
  virtual void wait(EventState& event) = 0;
  /// As of EventState, for all work asked for so far.
  [[nodiscard]] virtual bool done(std::string* failure) = 0;
  [[nodiscard]] virtual std::string finish() = 0;

  virtual void begin_capture() = 0;
  /// The graph, or null when it is not wanted; never leaves the stream capturing.
  [[nodiscard]] virtual std::shared_ptr<GraphState> end_capture(bool wanted) = 0;
  [[nodiscard]] bool capturing() const noexcept { return capture_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<CaptureState>& capture() const noexcept { return capture_; }
  /// Takes part in the capture that `event` was recorded in, if any.
  void join(const EventState& event);

  /// Waits for all work; Error(environment) when something went wrong in it, Error(usage) while
  /// capturing.
  void synchronize();
  /// Error(usage) naming `what` while capturing.
  void refuse_in_capture(const char* what) const;

  const u64 number;           ///< of this stream, from 1, for Progress
  std::atomic<u64> asked{0};  ///< launches and copies so far, where access is checked
  Progress waited_for;        ///< guarded by the access guard's lock

 protected:
  void start(std::shared_ptr<CaptureState> capture);
  /// Ends the capture for all streams in it.
  [[nodiscard]] std::shared_ptr<CaptureState> stop();

 private:
  DeviceState* device_;
  std::shared_ptr<CaptureState> capture_;
};

/// Launches and copies in order, asked for together.
class GraphState {
 public:
  GraphState(DeviceState& device, std::vector<LoadedKernel*> kernels)
      : device_(&device), kernels_(std::move(kernels)) {}
  virtual ~GraphState() = default;
  GraphState(const GraphState&) = delete;
  GraphState& operator=(const GraphState&) = delete;
  [[nodiscard]] DeviceState& device() const noexcept { return *device_; }
  /// Of each launch, in order.
  [[nodiscard]] const std::vector<LoadedKernel*>& kernels() const noexcept { return kernels_; }

  virtual void launch(StreamState& stream) = 0;
  virtual void update(std::size_t launch, const Grid& grid, const void* const* values) = 0;

 private:
  DeviceState* device_;
  std::vector<LoadedKernel*> kernels_;
};

}  // namespace teeny::detail
