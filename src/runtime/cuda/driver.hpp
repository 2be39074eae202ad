#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "teeny/target/driver.hpp"

// The part of the CUDA driver's C interface that is used here, declared from its documentation, so
// that neither building nor running needs a CUDA toolkit. The symbols have been stable since CUDA
// 11; those with _v2 have an older form of the same name without it.

namespace teeny::detail::cuda {

using Result = int;  // CUresult; 0 is success
using DeviceNumber = int;
using DevicePointer = std::uint64_t;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;

// Values of CUdevice_attribute, CUfunction_attribute and CUjit_option.
enum class DeviceAttribute : int {
  multiprocessor_count = 16,
  integrated = 18,
  capability_major = 75,
  capability_minor = 76,
  max_shared_per_block_optin = 97,
};
enum class FunctionAttribute : int { max_dynamic_shared = 8 };
enum class JitOption : int { info_log = 3, info_log_size = 4, error_log = 5, error_log_size = 6 };

// Every function: its name here, its symbol, its parameters.
#define TEENY_CUDA_FUNCTIONS(X)                                                                   \
  X(init, cuInit, (unsigned flags))                                                               \
  X(driver_version, cuDriverGetVersion, (int* version))                                           \
  X(device_count, cuDeviceGetCount, (int* count))                                                 \
  X(device_get, cuDeviceGet, (DeviceNumber * device, int ordinal))                                \
  X(device_name, cuDeviceGetName, (char* name, int size, DeviceNumber device))                    \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceNumber device))     \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))           \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (DeviceNumber device))                         \
  X(context_set, cuCtxSetCurrent, (Context context))                                              \
  X(context_synchronize, cuCtxSynchronize, ())                                                    \
  X(memory_allocate, cuMemAlloc_v2, (DevicePointer * address, std::size_t bytes))                 \
  X(memory_free, cuMemFree_v2, (DevicePointer address))                                           \
  X(copy_in, cuMemcpyHtoD_v2, (DevicePointer to, const void* from, std::size_t bytes))            \
  X(copy_out, cuMemcpyDtoH_v2, (void* to, DevicePointer from, std::size_t bytes))                 \
  X(copy_async, cuMemcpyDtoDAsync_v2,                                                             \
    (DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream))                     \
  X(fill_async, cuMemsetD8Async,                                                                  \
    (DevicePointer to, unsigned char value, std::size_t bytes, Stream stream))                    \
  X(module_load, cuModuleLoadDataEx,                                                              \
    (Module * module, const void* image, unsigned count, int* options, void** values))            \
  X(module_unload, cuModuleUnload, (Module module))                                               \
  X(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name)) \
  X(function_set, cuFuncSetAttribute, (Function function, int attribute, int value))              \
  X(launch, cuLaunchKernel,                                                                       \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, \
     void** extra))                                                                               \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                             \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                          \
  X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                     \
  X(error_name, cuGetErrorName, (Result result, const char** text))                               \
  X(error_string, cuGetErrorString, (Result result, const char** text))

/// The driver's functions, found by dlopen once in a process.
class Driver {
 public:
  /// Error(environment) naming every place that was tried, or the symbol that is missing.
  [[nodiscard]] static const Driver& instance();

#define TEENY_CUDA_DECLARE(name, symbol, parameters) Result(*name) parameters = nullptr;
  TEENY_CUDA_FUNCTIONS(TEENY_CUDA_DECLARE)
#undef TEENY_CUDA_DECLARE

  /// "CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed".
  [[nodiscard]] std::string describe(Result result) const;
  /// Error(environment) "WHAT: DESCRIPTION" unless `result` is success.
  void check(Result result, const std::string& what) const;

 private:
  Driver();
};

}  // namespace teeny::detail::cuda
