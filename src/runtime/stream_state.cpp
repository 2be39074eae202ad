#include "stream_state.hpp"

#include <utility>

#include "device_state.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {
std::atomic<u64> streams_made{0};
}

Error earlier_failure(const DeviceState& device, const std::string& failure) {
  return Error(ErrorKind::environment,
               "a kernel or copy that was asked of device " + device.backend().name() +
                   " earlier failed: " + failure,
               "TEENY_SYNC=1 tells which kernel; --on cpu runs the program without the device");
}

StreamState::StreamState(DeviceState& device) : number(++streams_made), device_(&device) {}

void StreamState::start(std::shared_ptr<CaptureState> capture) {
  capture_ = std::move(capture);
  capture_->streams.push_back(shared_from_this());
}

void StreamState::join(const EventState& event) {
  if (event.capture != nullptr && event.capture == capture_) return;
  refuse_in_capture("wait for an event from outside of the capture");
  if (event.capture == nullptr) return;
  if (event.capture->streams.empty()) {
    throw Error(ErrorKind::usage,
                "a stream was asked to wait for an event of a capture that is over",
                "record the event again, after the graph's launch");
  }
  const Backend& backend = device_->backend();
  const Backend& other = event.device().backend();
  if (backend.kind() != other.kind()) {
    throw Error(ErrorKind::usage,
                "a stream of device " + backend.name() +
                    " was asked to take part in a capture of device " + other.name() +
                    ": wanted a stream of the same kind of device",
                "capture the work of each by itself");
  }
  start(event.capture);
}

std::shared_ptr<CaptureState> StreamState::stop() {
  const auto capture = capture_;
  for (const auto& stream : std::exchange(capture->streams, {})) stream->capture_ = nullptr;
  return capture;
}

void StreamState::refuse_in_capture(const char* what) const {
  if (!capturing()) return;
  throw Error(ErrorKind::usage,
              std::string("a stream that is capturing a graph was asked to ") + what,
              "do that before the capture or after it");
}

void StreamState::synchronize() {
  refuse_in_capture("wait");
  const std::string failure = finish();
  if (device_->guard() != nullptr) device_->guard()->reached(device_->guard()->progress_of(*this));
  if (!failure.empty()) throw earlier_failure(*device_, failure);
}

}  // namespace teeny::detail
