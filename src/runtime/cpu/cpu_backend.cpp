#include <algorithm>
#include <array>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <dlfcn.h>

#include "../backend.hpp"
#include "thread_pool.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/choose.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

constexpr std::size_t alignment = 64;  // a cache line, and what launch ABI 1 promises for scratch

// Launch ABI 1, see ir/kernel.hpp.
using Entry = void (*)(const void* const* arguments, const std::uint32_t* position,
                       const std::uint32_t* grid, void* scratch);

void* aligned(std::size_t bytes) {
  const std::size_t whole =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) {
    throw Error(ErrorKind::environment, "wanted " + std::to_string(bytes) +
                                            " bytes of memory on device cpu, found no more");
  }
  return memory;
}

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

class CpuKernel : public LoadedKernel {
 public:
  CpuKernel(ArtifactInfo info, const fs::path& path) : LoadedKernel(std::move(info)) {
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw Error(
          ErrorKind::environment, "cannot load " + path.string() + ": " + ::dlerror(),
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
  ~CpuKernel() override { ::dlclose(handle_); }
  CpuKernel(const CpuKernel&) = delete;
  CpuKernel& operator=(const CpuKernel&) = delete;
  [[nodiscard]] Entry entry() const noexcept { return entry_; }

 private:
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
};

// Kernels keep subnormal numbers and round to nearest, whatever the program set for its own
// arithmetic (a program linked with -ffast-math starts with subnormals flushed).
class PlainArithmetic {
 public:
  PlainArithmetic() noexcept {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainArithmetic() { std::fesetenv(&before_); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  std::fenv_t before_{};
};

class CpuBackend : public Backend {
 public:
  CpuBackend() : scratch_(static_cast<std::size_t>(pool_.size())) {}

  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::cpu; }
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override {
    const CpuTarget host = host_cpu_target();
    const int threads = pool_.size();
    return host.triple + " " + host.cpu + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }
  [[nodiscard]] std::optional<DeviceFacts> facts() const override { return std::nullopt; }
  [[nodiscard]] Target compile_target() const override { return host_cpu_target(); }
  [[nodiscard]] Artifact choose(const std::string& kernel, const std::vector<fs::path>& candidates,
                                const std::string& where) const override {
    return choose_for_cpu(kernel, candidates, where, host_cpu_target());
  }
  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact,
                                                   const fs::path& path) override {
    return std::make_unique<CpuKernel>(artifact.info, path);
  }

  void launch(LoadedKernel& kernel, const Grid& grid, void* const* values) override {
    const Entry entry = static_cast<CpuKernel&>(kernel).entry();
    const std::lock_guard lock(launch_);
    reserve_scratch(static_cast<std::size_t>(kernel.info().scratch_bytes), grid.count());
    const std::array<std::uint32_t, 3> extents = {static_cast<std::uint32_t>(grid.x),
                                                  static_cast<std::uint32_t>(grid.y),
                                                  static_cast<std::uint32_t>(grid.z)};
    const auto programs = [&](std::uint64_t begin, std::uint64_t end, int worker) {
      const PlainArithmetic plain;
      const std::uint64_t row = begin / extents[0];
      std::array<std::uint32_t, 3> position = {static_cast<std::uint32_t>(begin % extents[0]),
                                               static_cast<std::uint32_t>(row % extents[1]),
                                               static_cast<std::uint32_t>(row / extents[1])};
      void* scratch = scratch_[static_cast<std::size_t>(worker)].get();
      for (std::uint64_t program = begin; program < end; ++program) {
        entry(values, position.data(), extents.data(), scratch);
        if (++position[0] < extents[0]) continue;
        position[0] = 0;
        if (++position[1] < extents[1]) continue;
        position[1] = 0;
        ++position[2];
      }
    };
    pool_.run(static_cast<std::uint64_t>(grid.count()), programs);
  }

  [[nodiscard]] u64 allocate(std::size_t bytes) override {
    return reinterpret_cast<u64>(aligned(bytes));
  }
  void release(u64 address) noexcept override { std::free(reinterpret_cast<void*>(address)); }
  void copy_in(u64 to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_out(void* to, u64 from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  }
  void copy(u64 to, u64 from, std::size_t bytes) override {
    if (bytes != 0)
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  }
  void fill(u64 to, u8 value, std::size_t bytes) override {
    if (bytes != 0) std::memset(reinterpret_cast<void*>(to), value, bytes);
  }
  void synchronize() override {}  // a launch returns when it is done

 private:
  void reserve_scratch(std::size_t bytes, i64 programs) {
    // One program runs on the caller's thread alone; it needs no more than that one's.
    const std::size_t workers = programs == 1 ? 1 : scratch_.size();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      if (scratch_[worker] != nullptr && sizes_[worker] >= bytes) continue;
      scratch_[worker].reset(aligned(bytes));
      sizes_[worker] = bytes;
    }
  }

  ThreadPool pool_;
  std::mutex launch_;
  std::vector<std::unique_ptr<void, Free>> scratch_;
  std::vector<std::size_t> sizes_ = std::vector<std::size_t>(scratch_.size(), 0);
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace teeny::detail
