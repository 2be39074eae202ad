#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "teeny/base/dtype.hpp"
#include "teeny/runtime/grid.hpp"
#include "teeny/runtime/memory.hpp"
#include "teeny/target/loading.hpp"

namespace teeny {

template <Element T>
class Buffer;
template <Element T>
class HostBuffer;
template <class Kernel>
class PreparedKernel;
class Stream;

enum class DeviceKind : std::uint8_t { cpu, cuda };

namespace detail {
class DeviceState;
}

/// Where kernels run: a CPU (its threads share the grid's programs) or a CUDA device. A light
/// handle; copies mean the same device, which lives as long as the process. Its members may be
/// called from several threads. Work is done by streams, each in order; what is asked of the device
/// itself goes to its default stream.
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
  /// How many CUDA devices the driver has; 0 without a driver.
  [[nodiscard]] static int cuda_count();

  [[nodiscard]] DeviceKind kind() const;
  [[nodiscard]] std::string name() const;         ///< "cpu", "cuda:0": what `open` takes
  [[nodiscard]] std::string description() const;  ///< for people: the chip, its driver, its threads
  [[nodiscard]] std::optional<DeviceFacts> facts() const;  ///< of a CUDA device
  [[nodiscard]] const DeviceAttributes& attributes() const;
  [[nodiscard]] MemoryInfo memory() const;
  /// `teeny::shared_memory` of its attributes.
  [[nodiscard]] Memory shared_memory() const { return teeny::shared_memory(attributes()); }

  /// A new stream. The default one, on CUDA, also keeps order with the legacy stream (0) that other
  /// libraries use; new ones do not.
  [[nodiscard]] Stream stream() const;
  [[nodiscard]] Stream default_stream() const;

  /// `count` elements, uninitialised, which every stream may use at once. Error(board) for a kind
  /// of memory that the device does not have.
  template <Element T>
  [[nodiscard]] Buffer<T> buffer(std::size_t count, Memory memory = Memory::device) const;
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
  /// `count` elements of page-locked host memory, uninitialised: copies between it and the device
  /// are asynchronous. Kernels do not see it.
  template <Element T>
  [[nodiscard]] HostBuffer<T> host_buffer(std::size_t count) const;

  /// Runs `kernel` once per program of `grid`, on the default stream: see Stream::launch.
  template <class Kernel, class... Args>
  void launch(const Kernel& kernel, const Grid& grid, const Args&... args) const;
  /// Finds and loads `kernel` now. The handle launches without looking anything up, whatever
  /// run-time members the kernel has. Errors as of a launch.
  template <class Kernel>
  [[nodiscard]] PreparedKernel<Kernel> prepare(const Kernel& kernel) const;

  /// Waits until all work of all streams is done, and reports what went wrong in it.
  void synchronize() const;
  /// Waits for all work, then unloads every kernel; the next launch of one loads it again. Not
  /// while another thread launches, nor while a Graph of this device is to be launched again.
  void unload_kernels() const;
  /// Waits for all work, then gives memory that pools keep for later back to the driver.
  void trim_memory() const;

  /// Whether each launch is waited for, so that an error names the kernel at fault: false, or what
  /// TEENY_SYNC=1 says when the device is opened.
  [[nodiscard]] bool synchronous() const;
  void set_synchronous(bool on) const;

  friend bool operator==(const Device& left, const Device& right) {
    return left.state_ == right.state_;
  }
  [[nodiscard]] detail::DeviceState& state() const noexcept { return *state_; }
  explicit Device(detail::DeviceState& state) noexcept : state_(&state) {}

 private:
  detail::DeviceState* state_;
};

}  // namespace teeny
