#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/runtime/allocation.hpp"
#include "teeny/runtime/buffer_view.hpp"
#include "teeny/runtime/device.hpp"

namespace teeny {

namespace detail {
// Copies in a stream's order that are done when they return.
void copy_in_now(StreamState& stream, u64 to, const void* from, std::size_t bytes);
void copy_out_now(StreamState& stream, void* to, u64 from, std::size_t bytes);
void fill(StreamState& stream, u64 to, u8 value, std::size_t bytes);
}  // namespace detail

/// `size()` elements of type T that kernels of a device use, freed with the object. Moves, does not
/// copy. A launch takes it where the kernel has a Ptr<T> or Ptr<const T>.
template <Element T>
class Buffer {
 public:
  using element = T;

  /// Uninitialised.
  Buffer(const Device& device, std::size_t count, Memory memory = Memory::device)
      : memory_(device, detail::buffer_bytes(count, sizeof(T)), memory) {}
  explicit Buffer(detail::Allocation memory) : memory_(std::move(memory)) {}

  /// 0 once it was moved from, as all of it.
  [[nodiscard]] std::size_t size() const noexcept { return bytes() / sizeof(T); }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }
  [[nodiscard]] Device device() const noexcept { return memory_.device(); }
  [[nodiscard]] Memory memory() const noexcept { return memory_.memory(); }
  [[nodiscard]] u64 address() const noexcept { return memory_.address(); }  ///< as kernels see it
  /// A plain pointer for launches, `first` elements in; Error(usage) beyond the end.
  [[nodiscard]] DevicePtr<T> pointer(std::size_t first = 0) const {
    detail::check_range(first, 0, size());
    return DevicePtr<T>{address() + first * sizeof(T)};
  }

  /// All elements, or `count` of them from `first` on; Error(usage) beyond the end.
  [[nodiscard]] BufferView<T> view() const { return {device(), address(), size()}; }
  [[nodiscard]] BufferView<T> view(std::size_t first, std::size_t count) const {
    return view().view(first, count);
  }
  operator BufferView<T>() const { return view(); }
  operator BufferView<const T>() const { return view(); }

  /// The elements in place, of mapped and managed memory: no copy. Wait (synchronize) for the work
  /// that uses them before touching them. Error(usage) for device memory, which only copies reach.
  [[nodiscard]] std::span<T> host() const { return {static_cast<T*>(memory_.host()), size()}; }

  // Copies in the order of the stream that the buffer was made on, else of the device's default
  // stream: they see that stream's work before them, and no other's.

  /// Copies `values` (exactly `size()` of them) to the device. Error(usage) for another number.
  void upload(std::span<const T> values) {
    detail::check_copy_size(size(), values.size());
    detail::copy_in_now(memory_.stream(), address(), values.data(), bytes());
  }
  /// Waits for the work before it, then copies all elements to `values` (exactly `size()`).
  void download(std::span<T> values) const {
    detail::check_copy_size(size(), values.size());
    detail::copy_out_now(memory_.stream(), values.data(), address(), bytes());
  }
  [[nodiscard]] std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {
      const auto values = std::make_unique<bool[]>(size());  // a vector of bool is no array
      download({values.get(), size()});
      return std::vector<bool>(values.get(), values.get() + size());
    } else {
      std::vector<T> values(size());
      download(values);
      return values;
    }
  }
  /// Sets every byte: 0 for zeros, or a pattern no result has (0xff is a NaN in every float type),
  /// so that what a kernel did not write shows.
  void fill_bytes(u8 value) { detail::fill(memory_.stream(), address(), value, bytes()); }

 private:
  detail::Allocation memory_;
};

/// `size()` elements of page-locked host memory, freed with the object: what asynchronous copies
/// want on the host's side. Moves, does not copy.
template <Element T>
class HostBuffer {
 public:
  HostBuffer(const Device& device, std::size_t count)
      : memory_(device, detail::buffer_bytes(count, sizeof(T)), detail::Allocation::HostOnly{}) {}

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.host()); }
  [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size(); }
  [[nodiscard]] T& operator[](std::size_t index) const { return data()[index]; }
  [[nodiscard]] std::span<T> span() const { return {data(), size()}; }

 private:
  detail::Allocation memory_;
};

template <Element T>
Buffer<T> Device::buffer(std::size_t count, Memory memory) const {
  return Buffer<T>(*this, count, memory);
}

template <Element T>
Buffer<T> Device::buffer(std::span<const T> values) const {
  Buffer<T> result(*this, values.size());
  result.upload(values);
  return result;
}

template <class Range>
  requires requires(const Range& range) {
    std::data(range);
    std::size(range);
  }
auto Device::buffer(const Range& values) const {
  using T = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(values))>>;
  return buffer<T>(std::span<const T>(std::data(values), std::size(values)));
}

template <Element T>
HostBuffer<T> Device::host_buffer(std::size_t count) const {
  return HostBuffer<T>(*this, count);
}

template <Element T>
struct device_pointer_traits<Buffer<T>> {
  static constexpr bool is_pointer = true;
  using element_type = T;
  [[nodiscard]] static u64 address(const Buffer<T>& buffer) noexcept { return buffer.address(); }
};

}  // namespace teeny
