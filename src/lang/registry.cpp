#include <algorithm>
#include <mutex>
#include <utility>

#include "teeny/lang/instance.hpp"

namespace teeny {

namespace {
// Recursive: declaring variants may ask for the variants of another kernel.
std::recursive_mutex& registry_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}
}  // namespace

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(std::string type, std::function<std::vector<KernelInstance>()> variants) {
  const std::lock_guard<std::recursive_mutex> lock(registry_mutex());
  pending_.emplace_back(std::move(type), std::move(variants));
}

const std::vector<KernelInstance>& Registry::kernels() {
  const std::lock_guard<std::recursive_mutex> lock(registry_mutex());
  while (!pending_.empty()) {
    const auto list = std::exchange(pending_, {});
    for (const auto& [type, variants] : list) {
      for (KernelInstance& kernel : variants()) {
        const std::string key = kernel.record_key();
        const auto at = std::lower_bound(
            kernels_.begin(), kernels_.end(), key,
            [](const KernelInstance& one, const std::string& k) { return one.record_key() < k; });
        // A type may be registered by several shared objects, a variant declared twice. But types
        // of unnamed namespaces share their names without being the same.
        if (kernel.nameable && at != kernels_.end() && at->record_key() == key) continue;
        kernels_.insert(at, std::move(kernel));
      }
    }
  }
  return kernels_;
}

const KernelInstance* Registry::find(const std::string& record_key) {
  const std::vector<KernelInstance>& list = kernels();
  const std::lock_guard<std::recursive_mutex> lock(registry_mutex());
  const auto at = std::lower_bound(
      list.begin(), list.end(), record_key,
      [](const KernelInstance& one, const std::string& key) { return one.record_key() < key; });
  return at != list.end() && at->record_key() == record_key ? &*at : nullptr;
}

}  // namespace teeny
