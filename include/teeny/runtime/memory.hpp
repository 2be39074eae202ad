#pragma once

#include <cstdint>
#include <string_view>

#include "teeny/base/dtype.hpp"

namespace teeny {

/// What a device says of itself that decides how it is used. Values of CUdevice_attribute; of the
/// CPU, what is true of it.
struct DeviceAttributes {
  int multiprocessors = 0;                 ///< CPU: its threads
  int max_threads_per_block = 1;           ///< CPU: 1
  u64 shared_bytes_per_block = 0;          ///< the most that a block may opt in to; CPU: 0
  bool integrated = false;                 ///< its memory is the host's (Jetson, and the CPU)
  bool maps_host_memory = false;           ///< kernels can use page-locked host memory in place
  bool registers_host_memory = false;      ///< memory of the program's own can be page-locked
  bool managed_memory = false;             ///< one address for both sides, pages move
  bool concurrent_managed_access = false;  ///< … and the host may touch them while kernels run
  bool memory_pools = false;               ///< cuMemAllocAsync and its pools
};

/// Where a buffer's memory is.
enum class Memory : std::uint8_t {
  device,  ///< the device's own; the host reaches it by copies
  /// Page-locked host memory that kernels use in place: no copy at all on an integrated device,
  /// over the bus elsewhere.
  mapped,
  /// One address for host and kernels; pages move to who touches them. Only where the device has
  /// concurrent managed access: elsewhere a touch by the host while a kernel runs is a fault.
  managed,
};
[[nodiscard]] std::string_view name(Memory memory) noexcept;  ///< "device", "mapped", "managed"

/// The memory that host and kernels of this device share best: `mapped` on an integrated device
/// and wherever concurrent managed access is missing, else `managed`.
[[nodiscard]] Memory shared_memory(const DeviceAttributes& device) noexcept;

/// Bytes of a device's memory, as its driver counts them (CPU: the machine's available memory).
struct MemoryInfo {
  u64 free = 0;
  u64 total = 0;
};

}  // namespace teeny
