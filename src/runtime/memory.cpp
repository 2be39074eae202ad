#include "teeny/runtime/memory.hpp"

namespace teeny {

std::string_view name(Memory memory) noexcept {
  switch (memory) {
    case Memory::device:
      return "device";
    case Memory::mapped:
      return "mapped";
    case Memory::managed:
      return "managed";
  }
  return "";
}

Memory shared_memory(const DeviceAttributes& device) noexcept {
  // On an integrated device both sides reach the same memory anyway: nothing has to move.
  if (device.integrated || !device.managed_memory || !device.concurrent_managed_access) {
    return Memory::mapped;
  }
  return Memory::managed;
}

}  // namespace teeny
