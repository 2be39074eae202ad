#include "teeny/runtime/launch.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <vector>

#include "device_state.hpp"
#include "resolve.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

constexpr i64 max_grid_x = std::numeric_limits<i32>::max();
constexpr i64 max_grid_yz = 65535;

void check_grid(const std::string& kernel, const Grid& grid) {
  const auto check = [&](const char* axis, i64 extent, i64 most) {
    if (extent >= 1 && extent <= most) return;
    throw Error(ErrorKind::usage,
                "launch of " + kernel + ": wanted 1 to " + std::to_string(most) +
                    " programs along " + axis + ", found " + std::to_string(extent),
                extent < 1 ? "do not launch when there is nothing to do"
                           : "let each program do more, or use another axis");
  };
  check("x", grid.x, max_grid_x);
  check("y", grid.y, max_grid_yz);
  check("z", grid.z, max_grid_yz);
}

void check_owners(const DeviceState& device, const std::string& kernel,
                  const std::vector<const DeviceState*>& owners) {
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == nullptr || owners[i] == &device) continue;
    throw Error(ErrorKind::usage,
                "launch of " + kernel + ", argument " + std::to_string(i + 1) +
                    ": wanted a buffer on device " + device.backend().name() + ", found one on " +
                    owners[i]->backend().name(),
                "make the buffer on the device that launches");
  }
}

}  // namespace

// A variant that was not declared would have no code in a package: better to say so on the first
// run on a desktop than on the board.
void check_declared(const KernelInstance& instance) {
  if (instance.members.empty() || Registry::instance().find(instance.record_key()) != nullptr)
    return;
  std::string declared;
  for (const KernelInstance& other : Registry::instance().kernels()) {
    if (other.type == instance.type) declared += "\n  " + other.members;
  }
  throw Error(ErrorKind::usage,
              "launch of " + instance.readable + " with members " + instance.members +
                  ": wanted a declared variant, found none such; declared are:" +
                  (declared.empty() ? " none" : declared),
              "add it to the kernel's variants(), so that it is compiled ahead of time too");
}

LoadedKernel& DeviceState::kernel(const KernelInstance& instance, const void* tag) {
  std::string key = instance.record_key();
  if (!instance.nameable) {
    // Two types in unnamed namespaces may have one name.
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "#%p", tag);
    key += text.data();
  }
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = kernels_[key];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->kernel) {
    check_declared(instance);
    const FoundCode code = find_code(instance, *backend_);
    entry->kernel = backend_->load(code.artifact, code.path);
  }
  return *entry->kernel;
}

void launch(DeviceState& device, const KernelInstance& instance, const void* tag, const Grid& grid,
            std::vector<u64> slots, const std::vector<const DeviceState*>& owners) {
  check_grid(instance.name, grid);
  check_owners(device, instance.name, owners);
  // Targets are little-endian: a parameter narrower than its slot is read from the slot's start.
  std::vector<void*> values;
  values.reserve(slots.size());
  for (u64& slot : slots) values.push_back(&slot);
  device.backend().launch(device.kernel(instance, tag), grid, values.data());
}

void check_copy_size(std::size_t wanted, std::size_t found) {
  if (wanted == found) return;
  throw Error(ErrorKind::usage, "copy of a buffer: wanted " + std::to_string(wanted) +
                                    " elements, found " + std::to_string(found));
}

std::size_t buffer_bytes(std::size_t count, std::size_t element_size) {
  if (count <= std::numeric_limits<std::size_t>::max() / element_size) return count * element_size;
  throw Error(ErrorKind::usage,
              "buffer: wanted at most " +
                  std::to_string(std::numeric_limits<std::size_t>::max() / element_size) +
                  " elements, found " + std::to_string(count));
}

}  // namespace teeny::detail
