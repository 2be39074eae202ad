#pragma once

// From a kernel object to its code on a device, without a lock, an allocation or a table once it
// was launched.

#include <array>
#include <atomic>
#include <cstddef>
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

/// The entries that launches of a kernel type met, in a few lists by their members. Nodes are only
/// ever added: there are no more than declared variants times devices.
template <class Kernel>
class EntryCache {
 public:
  [[nodiscard]] static KernelEntry& find(DeviceState& device, const Kernel& kernel) {
    std::atomic<const Node*>& first = lists_[lang::hash_members(kernel) % list_count];
    for (const Node* node = first.load(std::memory_order_acquire); node != nullptr;
         node = node->next) {
      if (node->device == &device && lang::same_members(node->kernel, kernel)) return *node->entry;
    }
    return add(first, device, kernel);
  }

 private:
  struct Node {
    const DeviceState* device;
    Kernel kernel;
    KernelEntry* entry;
    const Node* next;
  };

  static KernelEntry& add(std::atomic<const Node*>& first, DeviceState& device,
                          const Kernel& kernel) {
    KernelEntry& entry = find_entry(device, instance_of(kernel), &kernel_tag<Kernel>);
    auto* node = new Node{&device, kernel, &entry, first.load(std::memory_order_relaxed)};
    while (!first.compare_exchange_weak(node->next, node, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return entry;
  }

  static constexpr std::size_t list_count = std::is_empty_v<Kernel> ? 1 : 64;
  static inline std::array<std::atomic<const Node*>, list_count> lists_{};
};

template <class Kernel>
[[nodiscard]] KernelEntry& entry_of(DeviceState& device, const Kernel& kernel) {
  return EntryCache<Kernel>::find(device, kernel);
}

}  // namespace teeny::detail
