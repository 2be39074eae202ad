// A CUDA driver for tests: it answers as a real one does (measured on an H200 with driver 580)
// about what it loads and what it refuses, keeps memory on the host, and runs nothing. It is told
// what to be by FAKE_CUDA_CAPABILITY (87), FAKE_CUDA_DRIVER (12060), FAKE_CUDA_INTEGRATED and
// FAKE_CUDA_DEVICES, and notes what it is asked in FAKE_CUDA_LOG.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

int number(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

void note(const std::string& line) {
  const char* file = std::getenv("FAKE_CUDA_LOG");
  if (file == nullptr) return;
  const int log = ::open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(log, text.data(), text.size());
  ::close(log);
}

struct Loading {
  Loading() { note("opened"); }
} loading;

struct Module {
  std::string code;
};
struct Function {
  std::string name;
  int shared = 48 * 1024;
  int threads = 0;  // of .reqntid, 0: any
};

// Code belongs to the driver, which gives it back when the process ends, unloaded or not.
std::set<std::unique_ptr<Module>> modules;
std::set<std::unique_ptr<Function>> functions;

constexpr int invalid_value = 1;
constexpr int no_device = 100;
constexpr int invalid_image = 200;
constexpr int no_binary = 209;
constexpr int invalid_ptx = 218;
constexpr int unsupported_ptx_version = 222;
constexpr int jit_disabled = 223;
constexpr int not_found = 500;

// The value of "<word> <a>.<b>" or "<word> sm_<ab>" as ab; -1 when it is not there.
int directive(const std::string& text, const std::string& word) {
  const auto at = text.find("\n" + word + " ");
  if (at == std::string::npos) return -1;
  int value = 0;
  bool any = false;
  for (std::size_t i = at + word.size() + 2; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      value = value * 10 + (text[i] - '0');
      any = true;
    }
  }
  return any ? value : -1;
}

// Highest PTX version of a driver, for the few that tests use.
int ceiling() {
  switch (number("FAKE_CUDA_DRIVER", 12060)) {
    case 11040:
      return 74;
    case 12020:
      return 82;
    case 13000:
      return 90;
    default:
      return 85;
  }
}

int say(char* log, const std::string& text) {
  if (log != nullptr) std::snprintf(log, 512, "%s", text.c_str());
  return 0;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-declarations"

EXPORT int cuInit(unsigned) { return number("FAKE_CUDA_DEVICES", 1) == 0 ? no_device : 0; }
EXPORT int cuDriverGetVersion(int* version) {
  return *version = number("FAKE_CUDA_DRIVER", 12060), 0;
}
EXPORT int cuDeviceGetCount(int* count) { return *count = number("FAKE_CUDA_DEVICES", 1), 0; }
EXPORT int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
EXPORT int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<std::size_t>(size), "Orin (played)");
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = number("FAKE_CUDA_CAPABILITY", 87);
  switch (attribute) {
    case 16:
      *value = 8;
      return 0;
    case 18:
      *value = number("FAKE_CUDA_INTEGRATED", 1);
      return 0;
    case 75:
      *value = capability / 10;
      return 0;
    case 76:
      *value = capability % 10;
      return 0;
    case 97:
      *value = 163 * 1024;
      return 0;
    default:
      return invalid_value;
  }
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  static int context_of_all;
  return *context = &context_of_all, 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORT int cuCtxSetCurrent(void*) { return 0; }
EXPORT int cuCtxSynchronize() { return 0; }
EXPORT int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (bytes > std::size_t{1} << 32) return 2;
  *address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  return 0;
}
EXPORT int cuMemFree_v2(std::uint64_t address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
EXPORT int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
EXPORT int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                              void** values) {
  char* error_log = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) error_log = static_cast<char*>(values[i]);
  }
  const char* bytes = static_cast<const char*>(image);
  const int capability = number("FAKE_CUDA_CAPABILITY", 87);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    // The tests' machine code says after the magic for which chip it is.
    const int target = std::atoi(bytes + 4);
    if (target == 0) return invalid_image;
    if (target != capability) return no_binary;
    note("machine code " + std::to_string(target));
    *module = modules.insert(std::make_unique<Module>(Module{std::string(bytes)})).first->get();
    return 0;
  }
  if (number("CUDA_DISABLE_PTX_JIT", 0) == 1) return jit_disabled;
  const std::string text = bytes;
  const int version = directive(text, ".version");
  const int target = directive(text, ".target");
  if (version < 0 || target < 0)
    return say(error_log, "Parsing error near '': syntax error"), invalid_ptx;
  if (version > ceiling()) {
    say(error_log, "Unsupported .version " + std::to_string(version / 10) + "." +
                       std::to_string(version % 10) + "; current version is '" +
                       std::to_string(ceiling() / 10) + "." + std::to_string(ceiling() % 10) + "'");
    return unsupported_ptx_version;
  }
  if (target > capability) {
    say(error_log, "SM version specified by .target is higher than default SM version assumed");
    return invalid_ptx;
  }
  note("ptx " + std::to_string(target));
  *module = modules.insert(std::make_unique<Module>(Module{text})).first->get();
  return 0;
}
EXPORT int cuModuleUnload(void* module) {
  std::erase_if(modules, [&](const auto& held) { return held.get() == module; });
  return 0;
}
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  const std::string& code = static_cast<Module*>(module)->code;
  if (code.find(name) == std::string::npos) return not_found;
  *function = functions.insert(std::make_unique<Function>(Function{name})).first->get();
  return 0;
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
  if (attribute != 8 || value > 163 * 1024) return invalid_value;
  static_cast<Function*>(function)->shared = value;
  note("shared " + std::to_string(value));
  return 0;
}
EXPORT int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                          unsigned, unsigned, unsigned shared, void*, void** parameters, void**) {
  const auto& kernel = *static_cast<Function*>(function);
  if (static_cast<int>(shared) > kernel.shared || y > 65535 || z > 65535 || parameters == nullptr) {
    return invalid_value;
  }
  std::uint64_t first = 0;
  std::memcpy(&first, parameters[0], sizeof first);
  note("launch " + kernel.name + " " + std::to_string(x) + "x" + std::to_string(y) + "x" +
       std::to_string(z) + " threads " + std::to_string(threads) + " shared " +
       std::to_string(shared) + " first " + std::to_string(first));
  return 0;
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
  static int stream_of_all;
  return *stream = &stream_of_all, 0;
}
EXPORT int cuStreamDestroy_v2(void*) { return 0; }
EXPORT int cuStreamSynchronize(void*) { return number("FAKE_CUDA_FAULT", 0); }
EXPORT int cuGetErrorName(int result, const char** text) {
  switch (result) {
    case invalid_value:
      *text = "CUDA_ERROR_INVALID_VALUE";
      return 0;
    case 2:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return 0;
    case no_device:
      *text = "CUDA_ERROR_NO_DEVICE";
      return 0;
    case invalid_image:
      *text = "CUDA_ERROR_INVALID_IMAGE";
      return 0;
    case no_binary:
      *text = "CUDA_ERROR_NO_BINARY_FOR_GPU";
      return 0;
    case invalid_ptx:
      *text = "CUDA_ERROR_INVALID_PTX";
      return 0;
    case unsupported_ptx_version:
      *text = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
      return 0;
    case jit_disabled:
      *text = "CUDA_ERROR_JIT_COMPILATION_DISABLED";
      return 0;
    case not_found:
      *text = "CUDA_ERROR_NOT_FOUND";
      return 0;
    case 700:
      *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return 0;
    default:
      return invalid_value;
  }
}
EXPORT int cuGetErrorString(int result, const char** text) { return cuGetErrorName(result, text); }
