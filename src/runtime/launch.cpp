#include "teeny/runtime/launch.hpp"

#include <limits>
#include <string>

#include "check_launch.hpp"
#include "device_state.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

constexpr i64 max_grid_x = std::numeric_limits<i32>::max();
constexpr i64 max_grid_yz = 65535;

constexpr bool within(i64 extent, i64 most) { return extent >= 1 && extent <= most; }

[[noreturn]] void refuse_grid(const std::string& kernel, const Grid& grid) {
  const bool x = !within(grid.x, max_grid_x);
  const bool y = !within(grid.y, max_grid_yz);
  const char* axis = x ? "x" : y ? "y" : "z";
  const i64 found = x ? grid.x : y ? grid.y : grid.z;
  throw Error(ErrorKind::usage,
              "launch of " + kernel + ": wanted 1 to " +
                  std::to_string(x ? max_grid_x : max_grid_yz) + " programs along " + axis +
                  ", found " + std::to_string(found),
              found < 1 ? "do not launch when there is nothing to do"
                        : "let each program do more, or use another axis");
}

// Waits for a launch and names it when it failed.
void follow(StreamState& stream, const LoadedKernel& kernel) {
  if (stream.capturing()) return;
  const std::string failure = stream.finish();
  if (AccessGuard* guard = stream.device().guard()) guard->reached(guard->progress_of(stream));
  if (failure.empty()) return;
  throw Error(ErrorKind::environment,
              "kernel " + kernel.info().kernel + " failed on device " +
                  stream.device().backend().name() + ": " + failure,
              "check the sizes and pointers it was launched with; --on cpu runs it without the "
              "device");
}

}  // namespace

void check_grid(const KernelEntry& entry, const Grid& grid) {
  if (!within(grid.x, max_grid_x) || !within(grid.y, max_grid_yz) || !within(grid.z, max_grid_yz)) {
    refuse_grid(entry.instance.name, grid);
  }
}

void refuse_owner(const DeviceState& device, const KernelEntry& entry, std::size_t number,
                  const DeviceState& owner) {
  throw Error(ErrorKind::usage,
              "launch of " + entry.instance.name + ", argument " + std::to_string(number) +
                  ": wanted a buffer on device " + device.backend().name() + ", found one on " +
                  owner.backend().name(),
              "make the buffer on the device that launches");
}

void launch(StreamState& stream, KernelEntry& entry, const Grid& grid, const void* const* values) {
  check_grid(entry, grid);
  DeviceState& device = stream.device();
  LoadedKernel* kernel = entry.loaded.load(std::memory_order_acquire);
  if (kernel == nullptr) kernel = &device.load(entry);
  AccessGuard* guard = device.guard();
  if (guard != nullptr && !stream.capturing()) {
    guard->begin_launch(stream, entry.instance, values);
  }
  stream.launch(*kernel, grid, values);
  if (device.synchronous.load(std::memory_order_relaxed)) follow(stream, *kernel);
}

}  // namespace teeny::detail
