#pragma once

// From a kernel object to its code on a device, without a lock, an allocation or a table once it
// was launched.

#include <atomic>
#include <string>
#include <type_traits>

#include "teeny/lang/instance.hpp"
#include "teeny/lang/launchable.hpp"
#include "teeny/lang/members.hpp"

namespace teeny::detail {

class DeviceState;
class LoadedKernel;

/// One kernel on one device; lives as long as the process.
struct KernelEntry {
  KernelInstance instance;
  std::atomic<LoadedKernel*> loaded{nullptr};  ///< null: not loaded yet, or unloaded again
};

/// One address for each kernel type: tells types apart whose names do not (unnamed namespaces).
template <class Kernel>
inline constexpr char kernel_tag = 0;

/// The entry of this instance, made when there is none. Error(usage) for a kernel with run-time
/// members that are not among its declared variants.
[[nodiscard]] KernelEntry& find_entry(DeviceState& device, const KernelInstance& instance,
                                      const void* tag);
/// Finds, or compiles, and loads the entry's code, unless it is loaded.
LoadedKernel& load(DeviceState& device, KernelEntry& entry);

/// The entries that launches of a kernel type met, newest first. Nodes are only ever added: there
/// are no more than declared variants times devices.
template <class Kernel>
class EntryCache {
 public:
  [[nodiscard]] static KernelEntry& find(DeviceState& device, const Kernel& kernel) {
    for (const Node* node = first_.load(std::memory_order_acquire); node != nullptr;
         node = node->next) {
      if (node->device == &device && lang::same_members(node->kernel, kernel)) return *node->entry;
    }
    return add(device, kernel);
  }

 private:
  struct Node {
    const DeviceState* device;
    Kernel kernel;
    KernelEntry* entry;
    const Node* next;
  };

  static KernelEntry& add(DeviceState& device, const Kernel& kernel) {
    KernelEntry& entry = find_entry(device, instance_of(kernel), &kernel_tag<Kernel>);
    auto* node = new Node{&device, kernel, &entry, first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return entry;
  }

  static inline std::atomic<const Node*> first_{nullptr};
};

template <class Kernel>
[[nodiscard]] KernelEntry& entry_of(DeviceState& device, const Kernel& kernel) {
  return EntryCache<Kernel>::find(device, kernel);
}

}  // namespace teeny::detail
