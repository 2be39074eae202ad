// The driver itself, its devices, contexts and the names of its errors.

#include "fake_libcuda.hpp"

#include <cstdio>
#include <map>

namespace fake {

Context* context_of(int device) {
  static auto& contexts = *new std::map<int, std::unique_ptr<Context>>;
  auto& context = contexts[device];
  if (!context) context = std::make_unique<Context>(Context{device, success, {}});
  return context.get();
}

Context*& current() {
  static thread_local Context* context = nullptr;
  return context;
}

namespace {

std::vector<Context*>& stack() {
  static thread_local std::vector<Context*> below;
  return below;
}

bool is_device(int device) { return device >= 0 && device < device_count(); }

struct Name {
  int code;
  const char* name;
  const char* text;
};
constexpr Name names[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {no_binary, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {unsupported_ptx_version, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {jit_disabled, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {launch_failure, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {not_permitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {capture_unmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {capture_unjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {capture_isolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
};

const Name* name_of(int code) {
  for (const Name& one : names) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT int cuInit(unsigned) {
  FAKE_CALL(cuInit);
  if (device_count() == 0) return no_device;
  set_initialized();
  return success;
}
FAKE_EXPORT int cuDriverGetVersion(int* version) {
  FAKE_CALL(cuDriverGetVersion);
  return *version = driver_version(), success;
}
FAKE_EXPORT int cuDeviceGetCount(int* count) {
  FAKE_CALL(cuDeviceGetCount);
  if (!initialized()) return not_initialized;
  return *count = device_count(), success;
}
FAKE_EXPORT int cuDeviceGet(int* device, int ordinal) {
  FAKE_CALL(cuDeviceGet);
  if (!is_device(ordinal)) return invalid_device;
  return *device = ordinal, success;
}
FAKE_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  FAKE_CALL(cuDeviceGetName);
  if (!is_device(device)) return invalid_device;
  int integrated = 0;
  attribute_of(18, device, &integrated);
  std::snprintf(name, static_cast<std::size_t>(size), "%s (played)",
                integrated != 0 ? "Orin" : "Server");
  return success;
}
FAKE_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  FAKE_CALL(cuDeviceGetAttribute);
  return is_device(device) ? attribute_of(attribute, device, value) : invalid_device;
}
FAKE_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  FAKE_CALL(cuDevicePrimaryCtxRetain);
  if (!is_device(device)) return invalid_device;
  live("context", 1);
  return *context = context_of(device), success;
}
FAKE_EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  FAKE_CALL(cuDevicePrimaryCtxRelease_v2);
  live("context", -1);
  return success;
}
FAKE_EXPORT int cuCtxGetCurrent(void** context) {
  FAKE_CALL(cuCtxGetCurrent);
  return *context = current(), success;
}
FAKE_EXPORT int cuCtxSetCurrent(void* context) {
  FAKE_CALL(cuCtxSetCurrent);
  return current() = static_cast<Context*>(context), success;
}
FAKE_EXPORT int cuCtxPushCurrent_v2(void* context) {
  FAKE_CALL(cuCtxPushCurrent_v2);
  stack().push_back(current());
  return current() = static_cast<Context*>(context), success;
}
FAKE_EXPORT int cuCtxPopCurrent_v2(void** context) {
  FAKE_CALL(cuCtxPopCurrent_v2);
  if (stack().empty()) return invalid_context;
  *context = current();
  current() = stack().back();
  stack().pop_back();
  return success;
}
FAKE_EXPORT int cuCtxSynchronize() {
  FAKE_CONTEXT_CALL(cuCtxSynchronize);
  drain(current());
  return current()->error;
}
FAKE_EXPORT int cuGetErrorName(int result, const char** text) {
  const Name* found = name_of(result);
  return found == nullptr ? invalid_value : (*text = found->name, success);
}
FAKE_EXPORT int cuGetErrorString(int result, const char** text) {
  const Name* found = name_of(result);
  return found == nullptr ? invalid_value : (*text = found->text, success);
}
