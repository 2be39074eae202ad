#include "device_state.hpp"

#include <array>
#include <cstdio>

#include "environment.hpp"
#include "resolve.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

// A variant that was not declared would have no code in a package: better to say so on the first
// run on a desktop than on the board.
void check_declared(const KernelInstance& instance) {
  if (instance.members.empty() || Registry::instance().find(instance.record_key()) != nullptr)
    return;
  std::string declared;
  for (const KernelInstance* other : Registry::instance().kernels()) {
    if (other->type == instance.type) declared += "\n  " + other->members;
  }
  throw Error(ErrorKind::usage,
              "launch of " + instance.readable + " with members " + instance.members +
                  ": wanted a declared variant, found none such; declared are:" +
                  (declared.empty() ? " none" : declared),
              "add it to the kernel's variants(), so that it is compiled ahead of time too");
}

DeviceState::DeviceState(std::unique_ptr<Backend> backend)
    : synchronous(environment_flag("TEENY_SYNC")),
      backend_(std::move(backend)),
      guard_(AccessGuard::from_environment()),
      default_stream_(backend_->make_stream(*this, true)) {}

KernelEntry& DeviceState::entry(const KernelInstance& instance, const void* tag) {
  std::string key = instance.record_key();
  if (!instance.nameable) {
    // Two types in unnamed namespaces may have one name.
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "#%p", tag);
    key += text.data();
  }
  {
    const std::lock_guard lock(mutex_);
    const auto at = slots_.find(key);
    if (at != slots_.end()) return *at->second;
  }
  check_declared(instance);
  const std::lock_guard lock(mutex_);
  auto& slot = slots_[key];
  if (!slot) {
    slot = std::make_unique<Slot>();
    slot->instance = instance;
  }
  return *slot;
}

LoadedKernel& DeviceState::load(KernelEntry& entry) {
  auto& slot = static_cast<Slot&>(entry);
  const std::lock_guard lock(slot.mutex);
  if (!slot.kernel) {
    const FoundCode code = find_code(slot.instance, *backend_);
    slot.kernel = backend_->load(code.artifact, code.path);
    slot.loaded.store(slot.kernel.get(), std::memory_order_release);
  }
  return *slot.kernel;
}

void DeviceState::unload_kernels() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, slot] : slots_) {
    const std::lock_guard one(slot->mutex);
    slot->loaded.store(nullptr, std::memory_order_release);
    slot->kernel.reset();
  }
}

KernelEntry& find_entry(DeviceState& device, const KernelInstance& instance, const void* tag) {
  return device.entry(instance, tag);
}

LoadedKernel& load(DeviceState& device, KernelEntry& entry) { return device.load(entry); }

}  // namespace teeny::detail
