#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "teeny/lang/arguments.hpp"
#include "teeny/runtime/device.hpp"

namespace teeny {

namespace detail {
/// Error(usage) when a copy between `wanted` elements of a buffer and `found` of the host cannot
/// be.
void check_copy_size(std::size_t wanted, std::size_t found);
/// Error(usage) unless `first` + `count` lies within `size`.
void check_range(std::size_t first, std::size_t count, std::size_t size);
/// Bytes of `count` elements; Error(usage) when they are more than an address can count.
[[nodiscard]] std::size_t buffer_bytes(std::size_t count, std::size_t element_size);
/// Error(usage) unless the driver knows `bytes` bytes at `address` as memory that kernels of
/// `device` can use.
void check_foreign(DeviceState& device, u64 address, std::size_t bytes);
}  // namespace detail

/// Elements in a device's memory that somebody else owns: part of a Buffer, or memory of another
/// library (a camera, a ROS 2 node). T may be const. A launch takes it where the kernel has a
/// Ptr<T>; the owner must outlive the work.
template <class T>
class BufferView {
  static_assert(Element<std::remove_const_t<T>>);

 public:
  using element = T;

  BufferView(const Device& device, u64 address, std::size_t size) noexcept
      : device_(&device.state()), address_(address), size_(size) {}
  /// `size` elements at a device pointer of another library. Error(usage) when the driver does not
  /// know them as memory of this device (on the CPU any memory is).
  [[nodiscard]] static BufferView wrap(const Device& device, T* pointer, std::size_t size) {
    const auto address = reinterpret_cast<u64>(pointer);
    detail::check_foreign(device.state(), address, detail::buffer_bytes(size, sizeof(T)));
    return {device, address, size};
  }
  /// What may be written may also be read.
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_const_v<U>)
  BufferView(const BufferView<U>& other) noexcept
      : device_(&other.device().state()), address_(other.address()), size_(other.size()) {}

  [[nodiscard]] Device device() const noexcept { return Device(*device_); }
  [[nodiscard]] u64 address() const noexcept { return address_; }  ///< as kernels see it
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  /// `count` elements from `first` on; Error(usage) beyond the end.
  [[nodiscard]] BufferView view(std::size_t first, std::size_t count) const {
    detail::check_range(first, count, size_);
    return {Device(*device_), address_ + first * sizeof(T), count};
  }

 private:
  detail::DeviceState* device_;
  u64 address_;
  std::size_t size_;
};

template <class T>
struct device_pointer_traits<BufferView<T>> {
  static constexpr bool is_pointer = true;
  using element_type = T;
  [[nodiscard]] static u64 address(const BufferView<T>& view) noexcept { return view.address(); }
};

}  // namespace teeny
