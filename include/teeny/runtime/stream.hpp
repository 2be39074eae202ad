#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/runtime/event.hpp"

namespace teeny {

class Graph;

namespace detail {

template <class T>
[[nodiscard]] BufferView<T> view_of(const BufferView<T>& view) noexcept {
  return view;
}
template <Element T>
[[nodiscard]] BufferView<T> view_of(const Buffer<T>& buffer) {
  return buffer.view();
}
template <class X>
concept Viewable = requires(const X& x) { detail::view_of(x); };

// Without the order of types: bytes of one stream's device.
void copy_in(StreamState& stream, u64 to, const void* from, std::size_t bytes);
void copy_out(StreamState& stream, void* to, u64 from, std::size_t bytes);
void copy(StreamState& stream, DeviceState& to_device, u64 to, DeviceState& from_device, u64 from,
          std::size_t bytes);
void prefetch(StreamState& stream, u64 address, std::size_t bytes, Memory memory);
/// Error(usage) when a view of `view_device` is given to a stream of another device.
void check_stream_device(const StreamState& stream, const DeviceState& view_device);
}  // namespace detail

/// A queue of a device's work, done in order; streams run beside one another unless an Event
/// orders them. Copies mean the same stream. Its members may be called from several threads.
///
/// Work may begin and end after the call that asks for it returned. Memory it uses must live until
/// it is done, and what went wrong in it is reported by a later call that waits. (On the CPU device
/// work is done when the call returns.)
class Stream {
 public:
  /// A new stream: `device.stream()`.
  explicit Stream(const Device& device);
  /// A CUstream of another library, which keeps owning it; null is CUDA's legacy stream.
  /// Error(usage) for a stream of another context than the device's primary one, and on the CPU.
  [[nodiscard]] static Stream wrap(const Device& device, void* stream);

  [[nodiscard]] Device device() const;
  /// The CUstream, for other libraries; null on the CPU.
  [[nodiscard]] void* native() const;

  /// Runs `kernel` once per program of `grid`. Arguments are the kernel's parameters in order: a
  /// Buffer, BufferView or DevicePtr (of this device) for a pointer, numbers for scalars; what does
  /// not match does not compile. Errors: usage for a grid beyond its limits, a number beyond its
  /// parameter's type, memory of another device, an undeclared variant; input when there is no code
  /// for this device; board when the device has less than the code wants.
  template <class Kernel, class... Args>
  void launch(const Kernel& kernel, const Grid& grid, const Args&... args) const;

  // Copies between host and device memory, a Buffer or a BufferView. Error(usage) unless both sides
  // have the same number of elements. Host memory is best a HostBuffer's: with other memory a copy
  // may wait.

  template <detail::Viewable To>
  void upload(const To& to, std::span<const typename To::element> from) const {
    static_assert(!std::is_const_v<typename To::element>, "this view promises only to read");
    const auto view = detail::view_of(to);
    check(view, from.size());
    detail::copy_in(*state_, view.address(), from.data(), view.bytes());
  }
  template <detail::Viewable From>
  void download(const From& from, std::span<std::remove_const_t<typename From::element>> to) const {
    const auto view = detail::view_of(from);
    check(view, to.size());
    detail::copy_out(*state_, to.data(), view.address(), view.bytes());
  }
  /// Between two buffers, which may be on two devices, one of them this stream's.
  template <detail::Viewable To>
  void copy(const To& to,
            const BufferView<const std::remove_const_t<typename To::element>>& from) const {
    static_assert(!std::is_const_v<typename To::element>, "this view promises only to read");
    const auto view = detail::view_of(to);
    detail::check_copy_size(view.size(), from.size());
    detail::copy(*state_, view.device().state(), view.address(), from.device().state(),
                 from.address(), view.bytes());
  }
  /// Sets every byte.
  template <detail::Viewable To>
  void fill_bytes(const To& to, u8 value) const {
    static_assert(!std::is_const_v<typename To::element>, "this view promises only to read");
    const auto view = detail::view_of(to);
    check(view, view.size());
    detail::fill(*state_, view.address(), value, view.bytes());
  }
  /// Moves managed memory to the device before kernels ask for it page by page. Nothing for other
  /// memory, which needs no moving.
  template <Element T>
  void prefetch(const Buffer<T>& buffer) const {
    check(buffer.view(), buffer.size());
    detail::prefetch(*state_, buffer.address(), buffer.bytes(), buffer.memory());
  }

  /// `count` elements of device memory from a pool, uninitialised: allocated and freed in this
  /// stream's order, without a wait. Streams that did not wait for this one must not use them.
  template <Element T>
  [[nodiscard]] Buffer<T> buffer(std::size_t count) const {
    return Buffer<T>(detail::Allocation(state_, detail::buffer_bytes(count, sizeof(T))));
  }

  /// An event after all work asked for so far, made new or recorded again.
  [[nodiscard]] Event record() const;
  void record(const Event& event) const;
  /// Work asked for from now on begins after `event`, which may be of another stream or device.
  void wait(const Event& event) const;
  /// Whether all work is done; reports what went wrong in it.
  [[nodiscard]] bool done() const;
  /// Waits until it is.
  void synchronize() const;

  /// Records the work that `work(stream)` asks for instead of doing it; see Graph. Events carry the
  /// recording to other streams and back. Error(usage) for what waits or allocates meanwhile.
  template <class Work>
  [[nodiscard]] Graph capture(Work&& work) const;

  friend bool operator==(const Stream& left, const Stream& right) {
    return left.state_ == right.state_;
  }
  [[nodiscard]] detail::StreamState& state() const noexcept { return *state_; }
  explicit Stream(std::shared_ptr<detail::StreamState> state) noexcept : state_(std::move(state)) {}

 private:
  template <class T>
  void check(const BufferView<T>& view, std::size_t count) const {
    detail::check_copy_size(view.size(), count);
    detail::check_stream_device(*state_, view.device().state());
  }

  std::shared_ptr<detail::StreamState> state_;
};

}  // namespace teeny
