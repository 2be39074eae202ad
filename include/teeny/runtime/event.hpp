#pragma once

#include <memory>

#include "teeny/runtime/device.hpp"

namespace teeny {

namespace detail {
class EventState;
}

/// A point in a stream's work. Copies mean the same event. An event that was never recorded counts
/// as reached.
class Event {
 public:
  explicit Event(const Device& device);
  [[nodiscard]] Device device() const;

  /// Whether the work before it is done; reports what went wrong in it.
  [[nodiscard]] bool done() const;
  /// Waits until it is.
  void synchronize() const;

  [[nodiscard]] detail::EventState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<detail::EventState> state_;
};

/// Milliseconds between two recorded events of one device, both reached: the device's own clock.
/// Error(usage) for events that are not recorded, not reached, or of two devices.
[[nodiscard]] double elapsed_ms(const Event& from, const Event& to);

}  // namespace teeny
