#pragma once

// What is measured against: the driver itself, called as a program without teeny would.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/choose.hpp"
#include "teeny/cache/records.hpp"
#include "teeny/teeny.hpp"

namespace bench {

using Handle = void*;
using Address = std::uint64_t;

struct KernelNode {
  Handle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

#define BENCH_DRIVER(X)                                                                            \
  X(cuInit, (unsigned))                                                                            \
  X(cuDeviceGet, (int*, int))                                                                      \
  X(cuDevicePrimaryCtxRetain, (Handle*, int))                                                      \
  X(cuCtxSetCurrent, (Handle))                                                                     \
  X(cuCtxSynchronize, ())                                                                          \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                                 \
  X(cuMemAlloc_v2, (Address*, std::size_t))                                                        \
  X(cuMemFree_v2, (Address))                                                                       \
  X(cuModuleLoadDataEx, (Handle*, const void*, unsigned, int*, void**))                            \
  X(cuModuleUnload, (Handle))                                                                      \
  X(cuModuleGetFunction, (Handle*, Handle, const char*))                                           \
  X(cuLaunchKernel, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     Handle, void**, void**))                                                      \
  X(cuStreamSynchronize, (Handle))                                                                 \
  X(cuGraphCreate, (Handle*, unsigned))                                                            \
  X(cuGraphAddKernelNode, (Handle*, Handle, const Handle*, std::size_t, const KernelNode*))        \
  X(cuGraphInstantiateWithFlags, (Handle*, Handle, unsigned long long))                            \
  X(cuGraphLaunch, (Handle, Handle))

struct RawDriver {
  RawDriver() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(::dlerror());
#define BENCH_FIND(name, parameters) find(library, #name, &name);
    BENCH_DRIVER(BENCH_FIND)
#undef BENCH_FIND
  }
#define BENCH_DECLARE(name, parameters) int(*name) parameters = nullptr;
  BENCH_DRIVER(BENCH_DECLARE)
#undef BENCH_DECLARE

 private:
  template <class Function>
  static void find(void* library, const char* name, Function* function) {
    void* symbol = ::dlsym(library, name);
    if (symbol == nullptr) throw std::runtime_error(std::string("no ") + name);
    std::memcpy(function, &symbol, sizeof symbol);
  }
};

inline void must(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(result));
}

/// The code that this program's record holds for a kernel on a device: what a launch would load.
template <class Kernel>
teeny::Artifact code_of(const Kernel& kernel, const teeny::Device& device) {
  const auto cache = teeny::default_cache_dir();
  const auto program = teeny::executable_path().filename().string();
  const auto records = teeny::ProgramRecords::read(cache, program);
  if (!records) throw std::runtime_error("no records of this program: run it from its package");
  const auto instance = teeny::instance_of(kernel);
  const teeny::KernelRecord* record = records->find(instance.record_key());
  if (record == nullptr) throw std::runtime_error("no record of kernel " + instance.name);
  std::vector<std::filesystem::path> files;
  for (const std::string& name : record->artifacts) files.push_back(cache / name);
  return teeny::choose_for_cuda(instance.name, files, cache.string(), *device.facts());
}

}  // namespace bench
