#include "driver.hpp"

#include <cstring>

#include <dlfcn.h>

#include "teeny/base/error.hpp"

namespace teeny::detail::cuda {

namespace {

// The loader's own search finds the driver wherever it is installed as it should be. The rest are
// the places where Jetson releases keep it, for root file systems whose ld.so.cache was not made
// anew.
constexpr const char* places[] = {
    "libcuda.so.1",
    "/opt/nvidia/l4t-gpu-libs/nvgpu/libcuda.so.1",
    "/opt/nvidia/l4t-gpu-libs/openrm/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
};

void* open_library() {
  std::string tried;
  for (const char* place : places) {
    if (void* handle = ::dlopen(place, RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += std::string("\n  ") + ::dlerror();
  }
  throw Error(ErrorKind::environment, "no CUDA driver: wanted libcuda.so.1, found none:" + tried,
              "install the device's driver, give a container the NVIDIA runtime, or run on the CPU "
              "(--on cpu)");
}

template <class Function>
void find(void* handle, const char* symbol, Function& function) {
  void* address = ::dlsym(handle, symbol);
  if (address == nullptr) {
    throw Error(ErrorKind::environment,
                std::string("the CUDA driver lacks ") + symbol + ": it is older than CUDA 11.4",
                "install a newer driver");
  }
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof address);
}

}  // namespace

Driver::Driver() {
  // Never closed: a driver does not survive being unloaded while its threads run.
  void* handle = open_library();
#define TEENY_CUDA_FIND(name, symbol, parameters) find(handle, #symbol, name);
  TEENY_CUDA_FUNCTIONS(TEENY_CUDA_FIND)
#undef TEENY_CUDA_FIND
  check(init(0), "the CUDA driver does not start (cuInit)");
}

const Driver& Driver::instance() {
  static const Driver driver;
  return driver;
}

std::string Driver::describe(Result result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(result, &name) != 0 || name == nullptr) name = "an unknown error";
  if (error_string(result, &text) != 0) text = nullptr;
  return std::string(name) + " (" + std::to_string(result) + ")" +
         (text != nullptr ? ": " + std::string(text) : "");
}

void Driver::check(Result result, const std::string& what) const {
  if (result != 0) throw Error(ErrorKind::environment, what + ": " + describe(result));
}

}  // namespace teeny::detail::cuda
