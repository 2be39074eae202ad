#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/lang/arguments.hpp"
#include "teeny/runtime/device.hpp"

namespace teeny {

namespace detail {
/// Error(usage) when a copy between `wanted` elements of a buffer and `found` of the host cannot
/// be.
void check_copy_size(std::size_t wanted, std::size_t found);
/// Bytes of `count` elements; Error(usage) when they are more than an address can count.
[[nodiscard]] std::size_t buffer_bytes(std::size_t count, std::size_t element_size);
}  // namespace detail

/// `size()` elements of type T in a device's memory, freed with the object. Moves, does not copy.
/// A launch takes it where the kernel has a Ptr<T> or Ptr<const T>.
template <Element T>
class Buffer {
 public:
  /// Uninitialised.
  Buffer(const Device& device, std::size_t count)
      : device_(device),
        address_(device.allocate(detail::buffer_bytes(count, sizeof(T)))),
        size_(count) {}
  Buffer(Buffer&& other) noexcept
      : device_(other.device_),
        address_(std::exchange(other.address_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      device_.release(address_);
      device_ = other.device_;
      address_ = std::exchange(other.address_, 0);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { device_.release(address_); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] const Device& device() const noexcept { return device_; }
  [[nodiscard]] u64 address() const noexcept { return address_; }  ///< in the device's memory
  /// A plain pointer for launches, `first` elements in; Error(usage) beyond the end.
  [[nodiscard]] DevicePtr<T> pointer(std::size_t first = 0) const {
    if (first > size_) detail::check_copy_size(size_, first);
    return DevicePtr<T>{address_ + first * sizeof(T)};
  }

  /// Copies `values` (exactly `size()` of them) to the device. Error(usage) for another number.
  void upload(std::span<const T> values) {
    detail::check_copy_size(size_, values.size());
    device_.copy_in(address_, values.data(), bytes());
  }
  /// Waits for the work before it, then copies all elements to `values` (exactly `size()`).
  void download(std::span<T> values) const {
    detail::check_copy_size(size_, values.size());
    device_.copy_out(values.data(), address_, bytes());
  }
  [[nodiscard]] std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {
      const auto values = std::make_unique<bool[]>(size_);  // a vector of bool is no array
      download({values.get(), size_});
      return std::vector<bool>(values.get(), values.get() + size_);
    } else {
      std::vector<T> values(size_);
      download(values);
      return values;
    }
  }
  /// Sets every byte: 0 for zeros, or a pattern no result has (0xff is a NaN in every float type),
  /// so that what a kernel did not write shows.
  void fill_bytes(u8 value) { device_.fill(address_, value, bytes()); }

 private:
  Device device_;
  u64 address_ = 0;
  std::size_t size_ = 0;
};

template <Element T>
Buffer<T> Device::buffer(std::size_t count) const {
  return Buffer<T>(*this, count);
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
struct device_pointer_traits<Buffer<T>> {
  static constexpr bool is_pointer = true;
  using element_type = T;
  [[nodiscard]] static u64 address(const Buffer<T>& buffer) noexcept { return buffer.address(); }
};

}  // namespace teeny
