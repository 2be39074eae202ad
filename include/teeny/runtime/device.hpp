#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "teeny/base/dtype.hpp"
#include "teeny/runtime/grid.hpp"
#include "teeny/target/loading.hpp"

namespace teeny {

template <Element T>
class Buffer;

enum class DeviceKind : std::uint8_t { cpu, cuda };

namespace detail {
class DeviceState;
}

/// Where kernels run: a CPU (its threads share the grid's programs) or a CUDA device. A light
/// handle; copies mean the same device. Work on a device happens in the order it was asked for.
class Device {
 public:
  /// This machine's processor.
  [[nodiscard]] static Device cpu();
  /// A CUDA device; Error(environment) without a driver, Error(usage) without a device of that
  /// number.
  [[nodiscard]] static Device cuda(int ordinal = 0);
  /// "cpu", "cuda" or "cuda:1"; Error(usage) for anything else.
  [[nodiscard]] static Device open(std::string_view name);
  /// Error(usage) unless `name` has one of the forms that `open` takes; `source` (an option or a
  /// variable) is named in it. Asks no driver.
  static void check_name(std::string_view source, std::string_view name);
  /// cuda:0 if a CUDA driver answers, else the CPU; says on stderr which it took. Never changes its
  /// mind later: a kernel that has no code for the device it took is an error.
  [[nodiscard]] static Device best();

  [[nodiscard]] DeviceKind kind() const;
  [[nodiscard]] std::string name() const;         ///< "cpu", "cuda:0": what `open` takes
  [[nodiscard]] std::string description() const;  ///< for people: the chip, its driver, its threads
  [[nodiscard]] std::optional<DeviceFacts> facts() const;  ///< of a CUDA device

  /// `count` elements of uninitialised device memory.
  template <Element T>
  [[nodiscard]] Buffer<T> buffer(std::size_t count) const;
  /// A copy of these values: `device.buffer<f32>(values)` of a span or what converts to one, or
  /// `device.buffer(values)` of a vector or an array.
  template <Element T>
  [[nodiscard]] Buffer<T> buffer(std::span<const T> values) const;
  template <class Range>
    requires requires(const Range& range) {
      std::data(range);
      std::size(range);
    }
  [[nodiscard]] auto buffer(const Range& values) const;

  /// Runs `kernel` once per program of `grid`. Arguments are the kernel's parameters in order:
  /// a Buffer (of this device) or DevicePtr for a pointer, numbers for scalars; what does not match
  /// does not compile. May return before the kernel is done; reading a buffer waits for it. Errors:
  /// usage for a grid beyond its limits, a number beyond its parameter's type, a buffer of another
  /// device, an undeclared variant; input when there is no code for this device.
  template <class Kernel, class... Args>
  void launch(const Kernel& kernel, const Grid& grid, const Args&... args) const;

  /// Waits until all work is done, and reports what went wrong in it.
  void synchronize() const;

  // What Buffer is made of: raw memory of this device.
  [[nodiscard]] u64 allocate(std::size_t bytes) const;
  void release(u64 address) const noexcept;
  void copy_in(u64 to, const void* from, std::size_t bytes) const;
  void copy_out(void* to, u64 from, std::size_t bytes) const;
  void copy(u64 to, u64 from, std::size_t bytes) const;
  void fill(u64 to, u8 value, std::size_t bytes) const;

  friend bool operator==(const Device& left, const Device& right) {
    return left.state_ == right.state_;
  }
  [[nodiscard]] detail::DeviceState& state() const noexcept { return *state_; }

 private:
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::DeviceState> state_;
};

}  // namespace teeny
