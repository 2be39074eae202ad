// Memory of a CUDA device: plain, mapped, managed, page-locked, and from a pool.

#include <cstdint>
#include <limits>

#include "../access_guard.hpp"
#include "cuda_backend.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

std::string hexadecimal(u64 value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) {
    const u64 rest = value >> shift;
    if (rest != 0 || shift == 0) text.push_back("0123456789abcdef"[rest & 15]);
  }
  return text;
}

}  // namespace

Error CudaBackend::no_memory(std::size_t bytes, Memory memory, cuda::Result result) const {
  std::size_t free = 0;
  std::size_t total = 0;
  std::string found;
  if (result == cuda::out_of_memory && driver_.memory_info(&free, &total) == 0) {
    found = ", found " + std::to_string(free) + " of its " + std::to_string(total) + " free";
  }
  const std::string kind = memory == Memory::device ? "" : std::string(teeny::name(memory)) + " ";
  return Error(ErrorKind::environment,
               "wanted " + std::to_string(bytes) + " bytes of " + kind + "memory on device " +
                   name() + found + ": " + driver_.describe(result),
               result == cuda::out_of_memory ? "free buffers that are no longer needed, or work on "
                                               "less at a time"
                                             : "");
}

template <class Allocate>
cuda::Result CudaBackend::with_trim(Allocate allocate) {
  const cuda::Result result = allocate();
  if (result != cuda::out_of_memory || (pool_.load() == nullptr && own_pool_ == nullptr)) {
    return result;
  }
  if (driver_.context_synchronize() != 0) return result;
  trim();
  return allocate();
}

Block CudaBackend::allocate(std::size_t bytes, Memory memory, bool guarded) {
  const Entered entered(*this);
  entered.or_throw(*this);
  Block block;
  const cuda::Result result = with_trim([&]() -> cuda::Result {
    switch (memory) {
      case Memory::device:
        return driver_.memory_allocate(&block.address, bytes);
      case Memory::managed: {
        const cuda::Result made =
            driver_.managed_allocate(&block.address, bytes, cuda::attach_global);
        block.host = reinterpret_cast<void*>(block.address);
        return made;
      }
      case Memory::mapped:
        break;
    }
    constexpr unsigned flags = cuda::host_portable | cuda::host_device_map;
    cuda::Result made = 0;
    if (guarded && attributes_.registers_host_memory) {
      // What is registered is not what the host gets: the driver copies within host memory by the
      // CPU, at the registered address.
      block.backing = allocate_pages(bytes);
      block.host = view_again(block.backing, bytes);
      made = driver_.host_register(block.backing, bytes, flags);
      if (made != 0) {
        release_pages(block.host, bytes);
        release_pages(block.backing, bytes);
      }
    } else {
      made = driver_.host_allocate(&block.host, bytes, flags);
    }
    if (made != 0) return made;
    made = driver_.host_device_address(&block.address,
                                       block.backing != nullptr ? block.backing : block.host, 0);
    if (made != 0) release(block, bytes, memory, guarded);
    return made;
  });
  if (result != 0) throw no_memory(bytes, memory, result);
  return block;
}

void CudaBackend::release(const Block& block, std::size_t bytes, Memory memory,
                          bool guarded) noexcept {
  const Entered entered(*this);
  if (!entered.good()) return;
  if (memory != Memory::mapped) {
    driver_.memory_free(block.address);  // waits for the work that uses it
    return;
  }
  driver_.context_synchronize();  // which the calls below do not promise
  if (guarded && attributes_.registers_host_memory) {
    driver_.host_unregister(block.backing);
    release_pages(block.backing, bytes);
    release_pages(block.host, bytes);
  } else {
    driver_.host_free(block.host);
  }
}

void* CudaBackend::allocate_host(std::size_t bytes) {
  const Entered entered(*this);
  entered.or_throw(*this);
  void* host = nullptr;
  const cuda::Result result =
      with_trim([&] { return driver_.host_allocate(&host, bytes, cuda::host_portable); });
  if (result == 0) return host;
  throw Error(ErrorKind::environment, "wanted " + std::to_string(bytes) +
                                          " bytes of page-locked host memory for device " + name() +
                                          ": " + driver_.describe(result));
}

void CudaBackend::release_host(void* host) noexcept {
  const Entered entered(*this);
  if (!entered.good()) return;
  driver_.context_synchronize();  // a copy may still use it
  driver_.host_free(host);
}

void CudaBackend::check_foreign(u64 address, std::size_t bytes) const {
  const Entered entered(*this);
  entered.or_throw(*this);
  const auto get = [&](cuda::PointerAttribute which, auto* value) {
    return driver_.pointer_attribute(value, static_cast<int>(which), address) == 0;
  };
  const std::string wanted = "wanted " + std::to_string(bytes) + " bytes of device " + name() +
                             " at " + hexadecimal(address);
  unsigned type = 0;
  if (!get(cuda::PointerAttribute::memory_type, &type)) {
    throw Error(ErrorKind::usage, wanted + ", found an address that its driver does not know",
                "pass a pointer from cudaMalloc, cudaHostAlloc and their like");
  }
  int owner = 0;
  if (type == cuda::memory_type_device && get(cuda::PointerAttribute::device_ordinal, &owner) &&
      owner != ordinal_) {
    throw Error(ErrorKind::usage, wanted + ", found memory of cuda:" + std::to_string(owner),
                "name that device, or copy the data");
  }
  u64 start = 0;
  std::size_t size = 0;
  if (!get(cuda::PointerAttribute::range_start, &start) ||
      !get(cuda::PointerAttribute::range_size, &size)) {
    return;  // memory whose bounds the driver does not tell
  }
  const std::size_t there = size - static_cast<std::size_t>(address - start);
  if (bytes <= there) return;
  throw Error(ErrorKind::usage, wanted + ", found " + std::to_string(there),
              "pass the number of elements that the other library gave it");
}

cuda::MemoryPool CudaBackend::pool() {
  if (cuda::MemoryPool known = pool_) return known;
  const std::lock_guard lock(pool_making_);
  if (cuda::MemoryPool known = pool_) return known;
  cuda::PoolProperties properties;
  properties.location = device_;
  cuda::MemoryPool made = nullptr;
  driver_.check(driver_.pool_create(&made, &properties),
                "cannot make a memory pool on device " + name());
  // Memory is kept until trim_memory: given back at each wait, it would have to be asked for anew.
  u64 threshold = std::numeric_limits<u64>::max();
  const cuda::Result set = driver_.pool_set(made, cuda::pool_release_threshold, &threshold);
  if (set != 0) driver_.pool_destroy(made);
  driver_.check(set, "cannot set up a memory pool on device " + name());
  pool_ = made;
  return made;
}

u64 CudaBackend::pool_allocate(std::size_t bytes, cuda::Stream stream) {
  const Entered entered(*this);
  entered.or_throw(*this);
  cuda::MemoryPool from = own_pool_ ? nullptr : pool();
  u64 address = 0;
  const cuda::Result result = with_trim([&] {
    return own_pool_ ? own_pool_->allocate(&address, bytes, stream)
                     : driver_.pool_allocate(&address, bytes, from, stream);
  });
  if (result != 0) throw no_memory(bytes, Memory::device, result);
  return address;
}

void CudaBackend::pool_release(u64 address, cuda::Stream stream) noexcept {
  const Entered entered(*this);
  if (!entered.good()) return;
  if (own_pool_) {
    own_pool_->release(address, stream);
  } else {
    driver_.pool_free(address, stream);
  }
}

void CudaBackend::trim() {
  const Entered entered(*this);
  entered.or_throw(*this);
  if (own_pool_) own_pool_->trim();
  if (cuda::MemoryPool made = pool_) {
    driver_.check(driver_.pool_trim(made, 0), "cannot trim the memory pool of device " + name());
  }
}

}  // namespace teeny::detail
