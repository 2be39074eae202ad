#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/cpu/cpu.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/builder.hpp"

namespace teeny::compiler::testing {

using Grid = std::array<std::uint32_t, 3>;

/// A compiled kernel, loaded into this process.
class LoadedKernel {
 public:
  explicit LoadedKernel(const Artifact& artifact)
      : scratch_bytes_((artifact.info.scratch_bytes + 63) / 64 * 64) {
    const int file = ::memfd_create("kernel", MFD_CLOEXEC);
    const auto size = static_cast<ssize_t>(artifact.code.size());
    if (file < 0 || ::write(file, artifact.code.data(), artifact.code.size()) != size) std::abort();
    handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    ::close(file);
    if (handle_ == nullptr) throw Error(ErrorKind::environment, ::dlerror());
    entry_ = reinterpret_cast<Entry>(::dlsym(handle_, artifact.info.kernel.c_str()));
    if (entry_ == nullptr) throw Error(ErrorKind::environment, ::dlerror());
  }
  ~LoadedKernel() { ::dlclose(handle_); }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// Runs every program of the grid in turn, with poisoned scratch memory of just the right size.
  void run(const Grid& grid, const std::vector<const void*>& arguments) const {
    const std::size_t guard = 64;
    const std::unique_ptr<char, decltype(&std::free)> scratch(
        static_cast<char*>(std::aligned_alloc(64, scratch_bytes_ + guard)), &std::free);
    Grid position{};
    for (position[2] = 0; position[2] < grid[2]; ++position[2]) {
      for (position[1] = 0; position[1] < grid[1]; ++position[1]) {
        for (position[0] = 0; position[0] < grid[0]; ++position[0]) {
          std::memset(scratch.get(), 0xa5, scratch_bytes_ + guard);
          entry_(arguments.data(), position.data(), grid.data(), scratch.get());
          for (std::size_t i = 0; i < guard; ++i) {
            ASSERT_EQ(static_cast<unsigned char>(scratch.get()[scratch_bytes_ + i]), 0xa5)
                << "the kernel wrote past its scratch memory";
          }
        }
      }
    }
  }

 private:
  using Entry = void (*)(const void* const*, const std::uint32_t*, const std::uint32_t*, void*);
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
  std::size_t scratch_bytes_;
};

inline CpuTarget host_target() { return host_cpu_target(); }

/// Compiles a kernel that needs no passes, and runs it.
inline void run_on_cpu(const ir::Kernel& kernel, const Grid& grid,
                       const std::vector<const void*>& arguments) {
  LoadedKernel(compile_cpu(kernel, host_target())).run(grid, arguments);
}

}  // namespace teeny::compiler::testing
