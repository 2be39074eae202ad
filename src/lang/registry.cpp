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

std::vector<const KernelInstance*>::const_iterator Registry::place_of(
    const std::string& record_key) const {
  return std::lower_bound(
      kernels_.begin(), kernels_.end(), record_key,
      [](const KernelInstance* one, const std::string& key) { return one->record_key() < key; });
}

void Registry::take_pending() {
  while (!pending_.empty()) {
    auto next = std::move(pending_.front());
    pending_.pop_front();
    std::vector<KernelInstance> variants;
    try {
      variants = next.second();
    } catch (...) {
      pending_.push_front(std::move(next));  // not forgotten: who asks again is told again
      throw;
    }
    for (KernelInstance& kernel : variants) {
      const std::string key = kernel.record_key();
      const auto at = place_of(key);
      // A type may be registered by several shared objects, a variant declared twice. But types of
      // unnamed namespaces share their names without being the same.
      if (kernel.nameable && at != kernels_.end() && (*at)->record_key() == key) continue;
      instances_.push_back(std::move(kernel));
      kernels_.insert(at, &instances_.back());
    }
  }
}

std::vector<const KernelInstance*> Registry::kernels() {
  const std::lock_guard<std::recursive_mutex> lock(registry_mutex());
  take_pending();
  return kernels_;
}

const KernelInstance* Registry::find(const std::string& record_key) {
  const std::lock_guard<std::recursive_mutex> lock(registry_mutex());
  take_pending();
  const auto at = place_of(record_key);
  return at != kernels_.end() && (*at)->record_key() == record_key ? *at : nullptr;
}

}  // namespace teeny
