#pragma once

#include <filesystem>
#include <type_traits>
#include <vector>

#include "teeny/lang/arguments.hpp"
#include "teeny/lang/launchable.hpp"
#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/target/target.hpp"

namespace teeny {

namespace detail {

/// One address for each kernel type: tells types apart whose names do not (unnamed namespaces).
template <class Kernel>
inline constexpr char kernel_tag = 0;

/// The device whose memory an argument is, where the argument knows.
template <class Arg>
[[nodiscard]] const DeviceState* owner_of(const Arg& argument) {
  if constexpr (requires { argument.device().state(); }) return &argument.device().state();
  return nullptr;
}

void launch(DeviceState& device, const KernelInstance& instance, const void* tag, const Grid& grid,
            std::vector<u64> slots, const std::vector<const DeviceState*>& owners);

template <class... Args>
void launch_with(DeviceState& device, const KernelInstance& instance, const void* tag,
                 const Grid& grid, const Args&... args) {
  launch(device, instance, tag, grid, pack_arguments(instance, args...), {owner_of(args)...});
}

}  // namespace detail

template <class Kernel, class... Args>
void Device::launch(const Kernel& kernel, const Grid& grid, const Args&... args) const {
  check_arguments<Kernel, Args...>();
  ensure_registered<Kernel>();
  const void* tag = &detail::kernel_tag<Kernel>;
  if constexpr (std::is_empty_v<Kernel>) {
    static const KernelInstance instance = instance_of(kernel);
    detail::launch_with(*state_, instance, tag, grid, args...);
  } else {
    detail::launch_with(*state_, instance_of(kernel), tag, grid, args...);
  }
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
