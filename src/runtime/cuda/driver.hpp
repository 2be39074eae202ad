#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "teeny/target/driver.hpp"

// The part of the CUDA driver's C interface that is used here, declared from its documentation, so
// that neither building nor running needs a CUDA toolkit. All symbols are there since CUDA 11.4,
// the oldest driver that teeny serves, and in later ones under the same name and form.

namespace teeny::detail::cuda {

using Result = int;  // CUresult; 0 is success
inline constexpr Result out_of_memory = 2;
inline constexpr Result not_ready = 600;

using DeviceNumber = int;
using DevicePointer = std::uint64_t;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphNode = struct GraphNodeHandle*;
using GraphExec = struct GraphExecHandle*;
using MemoryPool = struct MemoryPoolHandle*;

// Values of CUdevice_attribute, CUfunction_attribute, CUjit_option, CUpointer_attribute,
// CUmemPool_attribute.
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  multiprocessor_count = 16,
  integrated = 18,
  can_map_host_memory = 19,
  capability_major = 75,
  capability_minor = 76,
  managed_memory = 83,
  concurrent_managed_access = 89,
  max_shared_per_block_optin = 97,
  host_register_supported = 99,
  memory_pools_supported = 115,
};
enum class FunctionAttribute : int {
  max_threads = 0,
  static_shared = 1,
  registers = 4,
  max_dynamic_shared = 8
};
enum class JitOption : int { info_log = 3, info_log_size = 4, error_log = 5, error_log_size = 6 };
enum class PointerAttribute : int {
  memory_type = 2,
  device_ordinal = 9,
  range_start = 11,
  range_size = 12
};
inline constexpr unsigned memory_type_device = 2;
inline constexpr int pool_release_threshold = 4;
inline constexpr int capture_relaxed = 2;

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned attach_global = 1;                       // of managed memory
inline constexpr unsigned host_portable = 1, host_device_map = 2;  // of page-locked memory

/// CUDA_KERNEL_NODE_PARAMS, the form that every driver since CUDA 10 takes.
struct KernelNode {
  Function function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};
static_assert(sizeof(KernelNode) == 56);

/// CUmemPoolProps.
struct PoolProperties {
  int allocation_type = 1;  // page-locked, as device memory is
  int handle_types = 0;
  int location_type = 1;  // a device
  int location = 0;
  void* security = nullptr;
  std::size_t max_size = 0;
  unsigned char reserved[56] = {};
};
static_assert(sizeof(PoolProperties) == 88);

// Every function: its name here, its symbol, its parameters.
#define TEENY_CUDA_FUNCTIONS(X)                                                                    \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driver_version, cuDriverGetVersion, (int* version))                                            \
  X(device_count, cuDeviceGetCount, (int* count))                                                  \
  X(device_get, cuDeviceGet, (DeviceNumber * device, int ordinal))                                 \
  X(device_name, cuDeviceGetName, (char* name, int size, DeviceNumber device))                     \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceNumber device))      \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))            \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (DeviceNumber device))                          \
  X(context_get, cuCtxGetCurrent, (Context * context))                                             \
  X(context_set, cuCtxSetCurrent, (Context context))                                               \
  X(context_push, cuCtxPushCurrent_v2, (Context context))                                          \
  X(context_pop, cuCtxPopCurrent_v2, (Context * context))                                          \
  X(context_synchronize, cuCtxSynchronize, ())                                                     \
  X(memory_info, cuMemGetInfo_v2, (std::size_t* free, std::size_t* total))                         \
  X(memory_allocate, cuMemAlloc_v2, (DevicePointer * address, std::size_t bytes))                  \
  X(memory_free, cuMemFree_v2, (DevicePointer address))                                            \
  X(managed_allocate, cuMemAllocManaged,                                                           \
    (DevicePointer * address, std::size_t bytes, unsigned flags))                                  \
  X(managed_prefetch, cuMemPrefetchAsync,                                                          \
    (DevicePointer address, std::size_t bytes, DeviceNumber device, Stream stream))                \
  X(host_allocate, cuMemHostAlloc, (void** host, std::size_t bytes, unsigned flags))               \
  X(host_free, cuMemFreeHost, (void* host))                                                        \
  X(host_register, cuMemHostRegister_v2, (void* host, std::size_t bytes, unsigned flags))          \
  X(host_unregister, cuMemHostUnregister, (void* host))                                            \
  X(host_device_address, cuMemHostGetDevicePointer_v2,                                             \
    (DevicePointer * address, void* host, unsigned flags))                                         \
  X(pool_create, cuMemPoolCreate, (MemoryPool * pool, const PoolProperties* properties))           \
  X(pool_set, cuMemPoolSetAttribute, (MemoryPool pool, int attribute, void* value))                \
  X(pool_trim, cuMemPoolTrimTo, (MemoryPool pool, std::size_t keep))                               \
  X(pool_destroy, cuMemPoolDestroy, (MemoryPool pool))                                             \
  X(pool_allocate, cuMemAllocFromPoolAsync,                                                        \
    (DevicePointer * address, std::size_t bytes, MemoryPool pool, Stream stream))                  \
  X(pool_free, cuMemFreeAsync, (DevicePointer address, Stream stream))                             \
  X(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, DevicePointer address)) \
  X(copy_in_async, cuMemcpyHtoDAsync_v2,                                                           \
    (DevicePointer to, const void* from, std::size_t bytes, Stream stream))                        \
  X(copy_out_async, cuMemcpyDtoHAsync_v2,                                                          \
    (void* to, DevicePointer from, std::size_t bytes, Stream stream))                              \
  X(copy_async, cuMemcpyDtoDAsync_v2,                                                              \
    (DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream))                      \
  X(copy_peer_async, cuMemcpyPeerAsync,                                                            \
    (DevicePointer to, Context to_context, DevicePointer from, Context from_context,               \
     std::size_t bytes, Stream stream))                                                            \
  X(fill_async, cuMemsetD8Async,                                                                   \
    (DevicePointer to, unsigned char value, std::size_t bytes, Stream stream))                     \
  X(module_load, cuModuleLoadDataEx,                                                               \
    (Module * module, const void* image, unsigned count, int* options, void** values))             \
  X(module_unload, cuModuleUnload, (Module module))                                                \
  X(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name))  \
  X(function_get, cuFuncGetAttribute, (int* value, int attribute, Function function))              \
  X(function_set, cuFuncSetAttribute, (Function function, int attribute, int value))               \
  X(launch, cuLaunchKernel,                                                                        \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,  \
     void** extra))                                                                                \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                              \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                           \
  X(stream_context, cuStreamGetCtx, (Stream stream, Context * context))                            \
  X(stream_query, cuStreamQuery, (Stream stream))                                                  \
  X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                      \
  X(stream_wait, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                  \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                                  \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                               \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                     \
  X(event_query, cuEventQuery, (Event event))                                                      \
  X(event_synchronize, cuEventSynchronize, (Event event))                                          \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, Event from, Event to))                \
  X(capture_begin, cuStreamBeginCapture_v2, (Stream stream, int mode))                             \
  X(capture_end, cuStreamEndCapture, (Stream stream, Graph * graph))                               \
  X(capture_info, cuStreamGetCaptureInfo_v2,                                                       \
    (Stream stream, int* status, std::uint64_t* id, Graph* graph, const GraphNode** dependencies,  \
     std::size_t* count))                                                                          \
  X(graph_instantiate, cuGraphInstantiateWithFlags,                                                \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                     \
  X(graph_launch, cuGraphLaunch, (GraphExec exec, Stream stream))                                  \
  X(graph_set_kernel, cuGraphExecKernelNodeSetParams,                                              \
    (GraphExec exec, GraphNode node, const KernelNode* parameters))                                \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                      \
  X(graph_destroy, cuGraphDestroy, (Graph graph))                                                  \
  X(error_name, cuGetErrorName, (Result result, const char** text))                                \
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
  /// The same where the text would cost more than the call: `what` is a function that makes it.
  template <class What>
    requires std::is_invocable_v<const What&>
  void check(Result result, const What& what) const {
    if (result != 0) check(result, std::string(what()));
  }

 private:
  Driver();
};

}  // namespace teeny::detail::cuda
