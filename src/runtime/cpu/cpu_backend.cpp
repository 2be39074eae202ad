#include "cpu_backend.hpp"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstdlib>
#include <new>

#include <unistd.h>

#include "../access_guard.hpp"
#include "cpu_stream.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/choose.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

constexpr std::size_t alignment = 64;  // a cache line, and what launch ABI 1 promises for scratch

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

// "MemAvailable:    5832 kB" of /proc/meminfo, in bytes; 0 when it is not there.
u64 meminfo(const std::string& text, const std::string& field) {
  const auto at = text.find("\n" + field + ":");
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + field.size() + 2, nullptr, 10) * 1024;
}

}  // namespace

void CpuBackend::Free::operator()(void* memory) const noexcept { std::free(memory); }

CpuBackend::CpuBackend()
    : scratch_(static_cast<std::size_t>(pool_.size())), sizes_(scratch_.size(), 0) {
  attributes_.multiprocessors = pool_.size();
  attributes_.integrated = true;
  attributes_.maps_host_memory = true;
  attributes_.registers_host_memory = true;
  attributes_.managed_memory = true;
  attributes_.concurrent_managed_access = true;
  attributes_.memory_pools = true;
}

std::string CpuBackend::description() const {
  const CpuTarget host = host_cpu_target();
  const int threads = pool_.size();
  return host.triple + " " + host.cpu + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

MemoryInfo CpuBackend::memory() const {
  const std::string text = "\n" + read_file_if_exists("/proc/meminfo").value_or("");
  return {meminfo(text, "MemAvailable"), meminfo(text, "MemTotal")};
}

Target CpuBackend::compile_target() const { return host_cpu_target(); }

Artifact CpuBackend::choose(const std::string& kernel, const std::vector<fs::path>& candidates,
                            const std::string& where) const {
  return choose_for_cpu(kernel, candidates, where, host_cpu_target());
}

std::unique_ptr<LoadedKernel> CpuBackend::load(const Artifact& artifact, const fs::path& path) {
  auto kernel = std::make_unique<CpuKernel>(artifact.info, path);
  log(LogLevel::debug, "kernel " + artifact.info.kernel + ": loaded CPU code for " +
                           runs_on(artifact.info) + ", " + path.string());
  return kernel;
}

Block CpuBackend::allocate(std::size_t bytes, Memory, bool guarded) {
  if (!guarded) {
    void* memory = aligned(bytes);
    return {reinterpret_cast<u64>(memory), memory};
  }
  void* host = allocate_pages(bytes);
  void* backing = view_again(host, bytes);
  return {reinterpret_cast<u64>(backing), host, backing};
}

void CpuBackend::release(const Block& block, std::size_t bytes, Memory, bool guarded) noexcept {
  if (!guarded) {
    std::free(block.host);
    return;
  }
  release_pages(block.backing, bytes);
  release_pages(block.host, bytes);
}

void* CpuBackend::allocate_host(std::size_t bytes) { return aligned(bytes); }
void CpuBackend::release_host(void* host) noexcept { std::free(host); }

std::shared_ptr<StreamState> CpuBackend::make_stream(DeviceState& device, bool) {
  return std::make_shared<CpuStream>(device, *this);
}

std::shared_ptr<StreamState> CpuBackend::wrap_stream(DeviceState&, void*) {
  throw Error(ErrorKind::usage, "wanted a CUDA device to wrap a CUstream for, found device cpu",
              "use device.stream()");
}

std::shared_ptr<EventState> CpuBackend::make_event(DeviceState& device) {
  return std::make_shared<CpuEvent>(device);
}

void CpuBackend::run(const CpuKernel& kernel, const Grid& grid, const void* const* values) {
  const CpuKernel::Entry entry = kernel.entry();
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

void CpuBackend::reserve_scratch(std::size_t bytes, i64 programs) {
  // One program runs on the caller's thread alone; it needs no more than that one's.
  const std::size_t workers = programs == 1 ? 1 : scratch_.size();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    if (scratch_[worker] != nullptr && sizes_[worker] >= bytes) continue;
    scratch_[worker].reset(aligned(bytes));
    sizes_[worker] = bytes;
  }
}

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace teeny::detail
