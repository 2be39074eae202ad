// Memory, accounted: device, pooled, managed, page-locked and registered.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fake_libcuda.hpp"

namespace fake {

namespace {

struct Pool {
  int device;
  std::uint64_t threshold = 0;
  struct Block {
    std::uint64_t address;
    std::size_t bytes;
    Stream* stream;
  };
  std::vector<Block> free;
};

std::map<std::uint64_t, Allocation>& allocations() {
  static auto& all = *new std::map<std::uint64_t, Allocation>;
  return all;
}
// Which pool an allocation came from.
std::map<std::uint64_t, Pool*>& pool_of() {
  static auto& all = *new std::map<std::uint64_t, Pool*>;
  return all;
}

const char* name(Kind kind) {
  switch (kind) {
    case Kind::device:
      return "device bytes";
    case Kind::pool:
      return "pool bytes";
    case Kind::managed:
      return "managed bytes";
    case Kind::host:
      return "host bytes";
    case Kind::registered:
      return "registered bytes";
  }
  return "";
}

bool of_device(Kind kind) {
  return kind == Kind::device || kind == Kind::pool || kind == Kind::managed;
}

std::size_t& used(int device) {
  static auto& all = *new std::map<int, std::size_t>;
  return all[device];
}
std::size_t total() { return static_cast<std::size_t>(number("FAKE_CUDA_MEMORY", 4294967296)); }

bool reserve(int device, std::size_t bytes) {
  if (bytes > total() - std::min(total(), used(device))) return false;
  used(device) += bytes;
  const std::string peak = "peak bytes " + std::to_string(device);
  const auto more = static_cast<long long>(used(device)) - live_now(peak);
  if (more > 0) live(peak, more);
  return true;
}

// No result has this pattern: what a kernel did not write shows.
std::uint64_t fresh(std::size_t bytes) {
  const std::size_t whole = (bytes + 511) / 512 * 512;
  void* memory = std::aligned_alloc(512, whole);
  std::memset(memory, 0xcd, whole);
  return reinterpret_cast<std::uint64_t>(memory);
}

void add(const Allocation& allocation) {
  allocations()[allocation.address] = allocation;
  live(name(allocation.kind), static_cast<long long>(allocation.bytes));
}

void forget(const Allocation& allocation) {
  live(name(allocation.kind), -static_cast<long long>(allocation.bytes));
  if (of_device(allocation.kind)) used(allocation.device) -= allocation.bytes;
  allocations().erase(allocation.address);
}

int allocate(std::uint64_t* address, std::size_t bytes, Kind kind) {
  if (bytes == 0) return invalid_value;
  const int device = current()->device;
  if (of_device(kind) && !reserve(device, bytes)) return out_of_memory;
  *address = fresh(bytes);
  const bool seen = kind != Kind::device && kind != Kind::pool;
  add({kind, *address, seen ? reinterpret_cast<void*>(*address) : nullptr, bytes, device});
  return success;
}

int give_back(std::uint64_t address, bool (*good)(Kind)) {
  const auto at = allocations().find(address);
  if (at == allocations().end() || !good(at->second.kind)) return invalid_value;
  drain(context_of(at->second.device));
  const Allocation gone = at->second;
  forget(gone);
  std::free(reinterpret_cast<void*>(gone.address));
  return success;
}

void trim(Pool& pool) {
  for (const Pool::Block& block : pool.free) {
    used(pool.device) -= block.bytes;
    live("cached bytes", -static_cast<long long>(block.bytes));
    std::free(reinterpret_cast<void*>(block.address));
  }
  pool.free.clear();
}

bool is_concurrent(int device) {
  int concurrent = 0;
  attribute_of(89, device, &concurrent);
  return concurrent != 0;
}

// The source or target of a copy, as the driver reaches it.
bool device_range(std::uint64_t address, std::size_t bytes, void** memory) {
  const Allocation* allocation = allocation_of(address, bytes);
  if (allocation == nullptr) return false;
  *memory = reachable(reinterpret_cast<void*>(address));
  return true;
}

int copy(void* to, const void* from, std::size_t bytes, void* handle, const char* kind) {
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  ask(stream, [=] { std::memmove(to, from, bytes); }, kind);
  return success;
}

}  // namespace

const Allocation* allocation_of(std::uint64_t address, std::size_t bytes) {
  for (const auto& [start, allocation] : allocations()) {
    const auto host = reinterpret_cast<std::uint64_t>(allocation.host);
    for (const std::uint64_t begin : {start, host}) {
      if (begin != 0 && address >= begin && address - begin <= allocation.bytes &&
          bytes <= allocation.bytes - (address - begin)) {
        return &allocation;
      }
    }
  }
  return nullptr;
}

void* reachable(const void* host) {
  const auto address = reinterpret_cast<std::uint64_t>(host);
  const Allocation* allocation = allocation_of(address, 1);
  if (allocation == nullptr || allocation->kind != Kind::registered) {
    return const_cast<void*>(host);
  }
  const auto begin = reinterpret_cast<std::uint64_t>(allocation->host);
  if (address < begin || address - begin >= allocation->bytes) return const_cast<void*>(host);
  return reinterpret_cast<void*>(allocation->address + (address - begin));
}

bool is_page_locked(const void* host, std::size_t bytes) {
  const Allocation* allocation = allocation_of(reinterpret_cast<std::uint64_t>(host), bytes);
  return allocation != nullptr &&
         (allocation->kind == Kind::host || allocation->kind == Kind::registered);
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  FAKE_CONTEXT_CALL(cuMemGetInfo_v2);
  *all = total();
  *free = total() - std::min(total(), used(current()->device));
  return success;
}
FAKE_EXPORT int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  FAKE_CONTEXT_CALL(cuMemAlloc_v2);
  return allocate(address, bytes, Kind::device);
}
FAKE_EXPORT int cuMemFree_v2(std::uint64_t address) {
  FAKE_CONTEXT_CALL(cuMemFree_v2);
  return give_back(address,
                   [](Kind kind) { return kind == Kind::device || kind == Kind::managed; });
}
FAKE_EXPORT int cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned) {
  FAKE_CONTEXT_CALL(cuMemAllocManaged);
  return allocate(address, bytes, Kind::managed);
}
FAKE_EXPORT int cuMemPrefetchAsync(std::uint64_t address, std::size_t bytes, int device,
                                   void* handle) {
  FAKE_CONTEXT_CALL(cuMemPrefetchAsync);
  const Allocation* allocation = allocation_of(address, bytes);
  if (allocation == nullptr || allocation->kind != Kind::managed) return invalid_value;
  if (!is_concurrent(device)) return invalid_device;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  ask(stream, [] {}, "prefetch");
  return success;
}
FAKE_EXPORT int cuMemHostAlloc(void** host, std::size_t bytes, unsigned) {
  FAKE_CONTEXT_CALL(cuMemHostAlloc);
  std::uint64_t address = 0;
  const int result = allocate(&address, bytes, Kind::host);
  if (result == success) *host = reinterpret_cast<void*>(address);
  return result;
}
FAKE_EXPORT int cuMemFreeHost(void* host) {
  FAKE_CONTEXT_CALL(cuMemFreeHost);
  return give_back(reinterpret_cast<std::uint64_t>(host),
                   [](Kind kind) { return kind == Kind::host; });
}
FAKE_EXPORT int cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned) {
  FAKE_CONTEXT_CALL(cuMemHostRegister_v2);
  int registers = 0;
  attribute_of(99, current()->device, &registers);
  if (registers == 0) return not_supported;
  // The same address for the device, as real drivers give wherever they can: what this one copies,
  // it touches there.
  add({Kind::registered, reinterpret_cast<std::uint64_t>(host), host, bytes, current()->device});
  return success;
}
FAKE_EXPORT int cuMemHostUnregister(void* host) {
  FAKE_CONTEXT_CALL(cuMemHostUnregister);
  const Allocation* allocation = allocation_of(reinterpret_cast<std::uint64_t>(host), 1);
  if (allocation == nullptr || allocation->kind != Kind::registered) return invalid_value;
  drain(current());
  const Allocation gone = *allocation;
  forget(gone);
  return success;
}
FAKE_EXPORT int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* host, unsigned) {
  FAKE_CONTEXT_CALL(cuMemHostGetDevicePointer_v2);
  const Allocation* allocation = allocation_of(reinterpret_cast<std::uint64_t>(host), 1);
  if (allocation == nullptr || allocation->host == nullptr) return invalid_value;
  return *address = allocation->address, success;
}
FAKE_EXPORT int cuMemPoolCreate(void** result, const void* properties) {
  FAKE_CONTEXT_CALL(cuMemPoolCreate);
  int pools = 0;
  attribute_of(115, current()->device, &pools);
  if (pools == 0) return not_supported;
  auto* pool = new Pool;
  std::memcpy(&pool->device, static_cast<const char*>(properties) + 12, sizeof(int));
  live("pool", 1);
  return *result = pool, success;
}
FAKE_EXPORT int cuMemPoolDestroy(void* handle) {
  FAKE_CONTEXT_CALL(cuMemPoolDestroy);
  auto* pool = static_cast<Pool*>(handle);
  drain(current());
  trim(*pool);
  delete pool;
  live("pool", -1);
  return success;
}
FAKE_EXPORT int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  FAKE_CONTEXT_CALL(cuMemPoolSetAttribute);
  constexpr int release_threshold = 4;
  if (attribute != release_threshold) return invalid_value;
  std::memcpy(&static_cast<Pool*>(pool)->threshold, value, sizeof(std::uint64_t));
  return success;
}
FAKE_EXPORT int cuMemPoolTrimTo(void* pool, std::size_t) {
  FAKE_CONTEXT_CALL(cuMemPoolTrimTo);
  trim(*static_cast<Pool*>(pool));
  return success;
}
FAKE_EXPORT int cuMemAllocFromPoolAsync(std::uint64_t* address, std::size_t bytes, void* handle,
                                        void* stream_handle) {
  FAKE_CONTEXT_CALL(cuMemAllocFromPoolAsync);
  auto& pool = *static_cast<Pool*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) return invalid_handle;
  if (bytes == 0) return invalid_value;
  // Memory freed in this stream's order may be used in it at once; another's when it has got there.
  for (auto at = pool.free.begin(); at != pool.free.end(); ++at) {
    if (at->bytes != bytes || (at->stream != stream && !is_idle(at->stream))) continue;
    *address = at->address;
    live("cached bytes", -static_cast<long long>(bytes));
    pool.free.erase(at);
    add({Kind::pool, *address, nullptr, bytes, pool.device});
    pool_of()[*address] = &pool;
    return success;
  }
  const int result = allocate(address, bytes, Kind::pool);
  if (result == success) pool_of()[*address] = &pool;
  return result;
}
FAKE_EXPORT int cuMemFreeAsync(std::uint64_t address, void* handle) {
  FAKE_CONTEXT_CALL(cuMemFreeAsync);
  Stream* stream = stream_of(handle);
  const auto at = allocations().find(address);
  if (stream == nullptr) return invalid_handle;
  if (at == allocations().end() || at->second.kind != Kind::pool) return invalid_value;
  if (stream->graph != nullptr) {
    ask(stream, [] {}, "captured free");  // and again with each launch of the graph
    return success;
  }
  Pool& pool = *pool_of()[address];
  const std::size_t bytes = at->second.bytes;
  live(name(Kind::pool), -static_cast<long long>(bytes));
  live("cached bytes", static_cast<long long>(bytes));
  allocations().erase(at);
  pool_of().erase(address);
  pool.free.push_back({address, bytes, stream});
  return success;
}
FAKE_EXPORT int cuPointerGetAttribute(void* value, int attribute, std::uint64_t address) {
  FAKE_CONTEXT_CALL(cuPointerGetAttribute);
  const Allocation* allocation = allocation_of(address, 1);
  if (allocation == nullptr) return invalid_value;
  const auto put = [&](auto what) { std::memcpy(value, &what, sizeof what); };
  switch (attribute) {
    case 2:
      put(allocation->kind == Kind::device || allocation->kind == Kind::pool ? 2u : 1u);
      return success;
    case 9:
      put(allocation->device);
      return success;
    case 11:
      put(allocation->address);
      return success;
    case 12:
      put(allocation->bytes);
      return success;
    default:
      return invalid_value;
  }
}
FAKE_EXPORT int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes,
                                     void* stream) {
  FAKE_CONTEXT_CALL(cuMemcpyHtoDAsync_v2);
  void* target = nullptr;
  if (!device_range(to, bytes, &target)) return invalid_value;
  if (is_page_locked(from, bytes)) {
    return copy(target, reachable(from), bytes, stream, "copy in");
  }
  // Other memory is read before the call returns.
  const auto* begin = static_cast<const char*>(from);
  const auto staged = std::make_shared<std::vector<char>>(begin, begin + bytes);
  Stream* where = stream_of(stream);
  if (where == nullptr) return invalid_handle;
  ask(where, [=] { std::memcpy(target, staged->data(), bytes); }, "copy in");
  return success;
}
FAKE_EXPORT int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes,
                                     void* stream) {
  FAKE_CONTEXT_CALL(cuMemcpyDtoHAsync_v2);
  void* source = nullptr;
  if (!device_range(from, bytes, &source)) return invalid_value;
  const bool locked = is_page_locked(to, bytes);
  const int result = copy(locked ? reachable(to) : to, source, bytes, stream, "copy out");
  // Other memory is written before the call returns.
  if (result == success && !locked && stream_of(stream)->graph == nullptr) {
    drain(stream_of(stream));
    return current()->error;
  }
  return result;
}
FAKE_EXPORT int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes,
                                     void* stream) {
  FAKE_CONTEXT_CALL(cuMemcpyDtoDAsync_v2);
  void* target = nullptr;
  void* source = nullptr;
  if (!device_range(to, bytes, &target) || !device_range(from, bytes, &source)) {
    return invalid_value;
  }
  return copy(target, source, bytes, stream, "copy");
}
FAKE_EXPORT int cuMemcpyPeerAsync(std::uint64_t to, void*, std::uint64_t from, void*,
                                  std::size_t bytes, void* stream) {
  FAKE_CONTEXT_CALL(cuMemcpyPeerAsync);
  void* target = nullptr;
  void* source = nullptr;
  if (!device_range(to, bytes, &target) || !device_range(from, bytes, &source)) {
    return invalid_value;
  }
  return copy(target, source, bytes, stream, "copy between");
}
FAKE_EXPORT int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t bytes,
                                void* handle) {
  FAKE_CONTEXT_CALL(cuMemsetD8Async);
  void* target = nullptr;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (!device_range(to, bytes, &target)) return invalid_value;
  ask(stream, [=] { std::memset(target, value, bytes); }, "fill");
  return success;
}
