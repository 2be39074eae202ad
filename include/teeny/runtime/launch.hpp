#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>

#include "teeny/lang/arguments.hpp"
#include "teeny/lang/launchable.hpp"
#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/runtime/kernel_entry.hpp"
#include "teeny/runtime/stream.hpp"
#include "teeny/target/target.hpp"

namespace teeny {

namespace detail {

/// The device whose memory an argument is, where the argument knows.
template <class Arg>
[[nodiscard]] const DeviceState* owner_of(const Arg& argument) {
  if constexpr (requires { argument.device().state(); }) return &argument.device().state();
  return nullptr;
}

/// Never returns: Error(usage) for a buffer of another device.
[[noreturn]] void refuse_owner(const DeviceState& device, const KernelEntry& entry,
                               std::size_t number, const DeviceState& owner);

template <class... Args>
void check_owners(const DeviceState& device, const KernelEntry& entry, const Args&... args) {
  std::size_t number = 0;
  const auto check = [&](const DeviceState* owner) {
    ++number;
    if (owner != nullptr && owner != &device) refuse_owner(device, entry, number, *owner);
  };
  (check(owner_of(args)), ...);
}

void launch(StreamState& stream, KernelEntry& entry, const Grid& grid, const void* const* values);
[[nodiscard]] StreamState& default_stream(DeviceState& device);
[[nodiscard]] DeviceState& device_of(const StreamState& stream);

template <class Kernel, class... Args>
void launch_with(StreamState& stream, KernelEntry& entry, const Grid& grid, const Args&... args) {
  const PackedArguments<Kernel, Args...> packed(entry.instance, args...);
  check_owners(device_of(stream), entry, args...);
  launch(stream, entry, grid, packed.values());
}

}  // namespace detail

template <class Kernel, class... Args>
void Stream::launch(const Kernel& kernel, const Grid& grid, const Args&... args) const {
  check_arguments<Kernel, Args...>();
  ensure_registered<Kernel>();
  detail::launch_with<Kernel>(*state_, detail::entry_of(detail::device_of(*state_), kernel), grid,
                              args...);
}

template <class Kernel, class... Args>
void Device::launch(const Kernel& kernel, const Grid& grid, const Args&... args) const {
  check_arguments<Kernel, Args...>();
  ensure_registered<Kernel>();
  detail::launch_with<Kernel>(detail::default_stream(*state_), detail::entry_of(*state_, kernel),
                              grid, args...);
}

/// A kernel found and loaded on one device: `device.prepare(kernel)`. A light handle.
template <class Kernel>
class PreparedKernel {
 public:
  /// As Stream::launch, on a stream of that device; else Error(usage).
  template <class... Args>
  void launch(const Stream& stream, const Grid& grid, const Args&... args) const {
    check_arguments<Kernel, Args...>();
    detail::check_stream_device(stream.state(), *device_);
    detail::launch_with<Kernel>(stream.state(), *entry_, grid, args...);
  }
  /// On the device's default stream.
  template <class... Args>
  void launch(const Grid& grid, const Args&... args) const {
    check_arguments<Kernel, Args...>();
    detail::launch_with<Kernel>(detail::default_stream(*device_), *entry_, grid, args...);
  }

  PreparedKernel(detail::DeviceState& device, detail::KernelEntry& entry)
      : device_(&device), entry_(&entry) {}

 private:
  detail::DeviceState* device_;
  detail::KernelEntry* entry_;
};

template <class Kernel>
PreparedKernel<Kernel> Device::prepare(const Kernel& kernel) const {
  ensure_registered<Kernel>();
  detail::KernelEntry& entry = detail::entry_of(*state_, kernel);
  detail::load(*state_, entry);
  return {*state_, entry};
}

namespace detail {
[[nodiscard]] std::filesystem::path compile(const KernelInstance& instance, const Target& target,
                                            bool force);
}

/// Compiles `kernel` for `target` and returns the path of its PTX (CUDA) or shared object (CPU) in
/// the default cache; what is there already is not compiled again unless `force`. A CUDA target
/// without a PTX version takes the lowest that target and instructions need. No device is needed.
/// Errors: usage for an undeclared variant or a PTX version outside the target's bounds; input for
/// a kernel that the target cannot run; environment when there is no teenyc.
template <class Kernel>
[[nodiscard]] std::filesystem::path compile_kernel(const Kernel& kernel, const Target& target,
                                                   bool force = false) {
  ensure_registered<Kernel>();
  return detail::compile(instance_of(kernel), target, force);
}

}  // namespace teeny
