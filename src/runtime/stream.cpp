#include "teeny/runtime/stream.hpp"

#include "device_state.hpp"

#include "teeny/base/error.hpp"
#include "teeny/runtime/event.hpp"

namespace teeny {

using detail::AccessGuard;
using detail::DeviceState;
using detail::StreamState;

namespace detail {

void check_stream_device(const StreamState& stream, const DeviceState& view_device) {
  if (&stream.device() == &view_device) return;
  throw Error(ErrorKind::usage,
              "wanted memory, an event or a kernel of device " + stream.device().backend().name() +
                  ", whose stream this is, found one of device " + view_device.backend().name(),
              "use a stream of that device, or copy between two buffers");
}

namespace {

template <class... Address>
void note_copy(StreamState& stream, Address... address) {
  AccessGuard* guard = stream.device().guard();
  if (guard != nullptr && !stream.capturing()) guard->after_copy(stream, {address...});
}

// Host memory that is watched may be locked by now, but never its other address.
const void* reachable(const StreamState& stream, const void* host) {
  AccessGuard* guard = stream.device().guard();
  return guard != nullptr ? guard->reachable(host) : host;
}

}  // namespace

void copy_in(StreamState& stream, u64 to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  stream.copy_in(to, reachable(stream, from), bytes);
  note_copy(stream, to, reinterpret_cast<u64>(from));
}

void copy_out(StreamState& stream, void* to, u64 from, std::size_t bytes) {
  if (bytes == 0) return;
  stream.copy_out(const_cast<void*>(reachable(stream, to)), from, bytes);
  note_copy(stream, from, reinterpret_cast<u64>(to));
}

void copy(StreamState& stream, DeviceState& to_device, u64 to, DeviceState& from_device, u64 from,
          std::size_t bytes) {
  DeviceState& here = stream.device();
  const auto is_cuda = [](const DeviceState& device) {
    return device.backend().kind() == DeviceKind::cuda;
  };
  if ((&to_device != &here && &from_device != &here) ||
      (!is_cuda(here) && is_cuda(to_device) != is_cuda(from_device))) {
    throw Error(
        ErrorKind::usage,
        "copy from device " + from_device.backend().name() + " to device " +
            to_device.backend().name() +
            ": wanted a stream of the CUDA device among them, or of either of two, found one of " +
            here.backend().name(),
        "ask a stream of that device for it");
  }
  if (bytes == 0) return;
  if (&to_device == &here && &from_device == &here) {
    stream.copy(to, from, bytes);
  } else if (is_cuda(to_device) && is_cuda(from_device)) {
    stream.copy_between(to_device, to, from_device, from, bytes);
  } else if (is_cuda(to_device)) {
    stream.copy_in(to, reinterpret_cast<const void*>(from), bytes);
  } else {
    stream.copy_out(reinterpret_cast<void*>(to), from, bytes);
  }
  note_copy(stream, to, from);
}

void fill(StreamState& stream, u64 to, u8 value, std::size_t bytes) {
  if (bytes == 0) return;
  stream.fill(to, value, bytes);
  note_copy(stream, to);
}

void prefetch(StreamState& stream, u64 address, std::size_t bytes, Memory memory) {
  // Other memory has no pages that move; and a device without concurrent managed access, which has
  // no managed memory here, answers a prefetch with an error.
  if (bytes == 0 || memory != Memory::managed) return;
  if (!stream.device().backend().attributes().concurrent_managed_access) return;
  stream.prefetch(address, bytes);
}

void copy_in_now(StreamState& stream, u64 to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  stream.refuse_in_capture("copy and wait");
  copy_in(stream, to, from, bytes);
  stream.synchronize();
}

void copy_out_now(StreamState& stream, void* to, u64 from, std::size_t bytes) {
  if (bytes == 0) return;
  stream.synchronize();  // what went wrong in a launch is told as that, not as a failing copy
  copy_out(stream, to, from, bytes);
  stream.synchronize();
}

StreamState& default_stream(DeviceState& device) { return *device.default_stream(); }
DeviceState& device_of(const StreamState& stream) { return stream.device(); }

}  // namespace detail

Stream::Stream(const Device& device)
    : state_(device.state().backend().make_stream(device.state(), false)) {}

Stream Stream::wrap(const Device& device, void* stream) {
  return Stream(device.state().backend().wrap_stream(device.state(), stream));
}

Device Stream::device() const { return Device(state_->device()); }
void* Stream::native() const { return state_->native(); }

Event Stream::record() const {
  Event event(device());
  record(event);
  return event;
}

void Stream::record(const Event& event) const {
  detail::check_stream_device(*state_, event.state().device());
  state_->record(event.state());
  event.state().recorded = true;
  event.state().capture = state_->capture();
  if (AccessGuard* guard = state_->device().guard()) {
    event.state().progress = guard->progress_of(*state_);
  }
}

void Stream::wait(const Event& event) const {
  if (!event.state().recorded) return;
  state_->join(event.state());
  state_->wait(event.state());
  if (AccessGuard* guard = state_->device().guard()) guard->waits_for(*state_, event.state());
}

bool Stream::done() const {
  state_->refuse_in_capture("tell whether it is done");
  std::string failure;
  const bool done = state_->done(&failure);
  if (!failure.empty()) throw detail::earlier_failure(state_->device(), failure);
  AccessGuard* guard = state_->device().guard();
  if (done && guard != nullptr) guard->reached(guard->progress_of(*state_));
  return done;
}

void Stream::synchronize() const { state_->synchronize(); }

}  // namespace teeny
