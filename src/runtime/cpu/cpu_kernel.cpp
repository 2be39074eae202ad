#include "cpu_kernel.hpp"

#include <cstring>

#include <dlfcn.h>

#include "teeny/base/error.hpp"

namespace teeny::detail {

CpuKernel::CpuKernel(ArtifactInfo info, const std::filesystem::path& path)
    : LoadedKernel(std::move(info)) {
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    throw Error(ErrorKind::environment, "cannot load " + path.string() + ": " + ::dlerror(),
                "if its file system is mounted noexec, put the cache elsewhere (TEENYC_CACHE_DIR)");
  }
  void* symbol = ::dlsym(handle_, this->info().kernel.c_str());
  if (symbol == nullptr) {
    ::dlclose(handle_);
    throw Error(ErrorKind::input,
                path.string() + ": wanted the entry " + this->info().kernel + ", found none",
                "remove the file and compile the kernel again");
  }
  static_assert(sizeof entry_ == sizeof symbol);
  std::memcpy(&entry_, &symbol, sizeof symbol);
}

CpuKernel::~CpuKernel() { ::dlclose(handle_); }

}  // namespace teeny::detail
