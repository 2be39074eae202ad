#include "access_guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

#include "device_state.hpp"
#include "environment.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

Error no_pages(std::size_t bytes) {
  return Error(ErrorKind::environment,
               "wanted " + std::to_string(bytes) +
                   " bytes of host memory, found none: " + std::generic_category().message(errno));
}

// What a signal handler may read: regions whose pages are locked, with the line to print.
struct Locked {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::uintptr_t> end{0};
  std::array<char, 256> line{};
};
constexpr std::size_t most_locked = 256;
std::array<Locked, most_locked> locked;
struct sigaction before_segv;

void say(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void on_fault(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Locked& one : locked) {
    if (address >= one.begin.load() && address < one.end.load()) {
      say(one.line.data());
      break;
    }
  }
  // The instruction runs again, and meets whoever was in charge before.
  ::sigaction(signal, &before_segv, nullptr);
}

void watch_faults() {
  static const bool watching = [] {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGSEGV, &action, &before_segv) == 0;
  }();
  static_cast<void>(watching);
}

// One entry a stream, the farthest: streams that wait for one another in turn would double theirs.
void reach(Progress& progress, const std::pair<u64, u64>& point) {
  for (auto& reached : progress) {
    if (reached.first != point.first) continue;
    reached.second = std::max(reached.second, point.second);
    return;
  }
  progress.push_back(point);
}

bool covers(const Progress& progress, const std::pair<u64, u64>& use) {
  return std::any_of(progress.begin(), progress.end(), [&](const auto& reached) {
    return reached.first == use.first && reached.second >= use.second;
  });
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw no_pages(bytes);
  return pages;
}

void* view_again(void* pages, std::size_t bytes) {
  // An old size of 0 maps shared pages once more instead of moving them.
  void* again = ::mremap(pages, 0, whole_pages(bytes), MREMAP_MAYMOVE);
  if (again == MAP_FAILED) throw no_pages(bytes);
  return again;
}

void release_pages(void* pages, std::size_t bytes) noexcept { ::munmap(pages, whole_pages(bytes)); }

std::unique_ptr<AccessGuard> AccessGuard::from_environment() {
  return environment_flag("TEENY_CHECK_ACCESS") ? std::make_unique<AccessGuard>() : nullptr;
}

void AccessGuard::add(const Block& block, std::size_t bytes, bool pages) {
  if (pages) watch_faults();
  const std::lock_guard lock(mutex_);
  regions_.push_back(std::make_unique<Region>(Region{block, bytes, pages, {}, {}}));
}

Block AccessGuard::remove(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(regions_.begin(), regions_.end(),
                               [&](const auto& region) { return region->block.host == host; });
  let_in(**at);
  const Block block = (*at)->block;
  regions_.erase(at);
  return block;
}

AccessGuard::Region* AccessGuard::region_of(u64 address) {
  for (const auto& region : regions_) {
    const auto host = reinterpret_cast<u64>(region->block.host);
    if ((address >= region->block.address && address < region->block.address + region->bytes) ||
        (address >= host && address < host + region->bytes)) {
      return region.get();
    }
  }
  return nullptr;
}

void AccessGuard::lock_out(Region& region, const StreamState& stream, u64 count,
                           const std::string& what) {
  reach(region.used_by, {stream.number, count});
  region.what = what + " on " + stream.device().backend().name();
  if (!region.pages) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(region.block.host);
  Locked* place = nullptr;
  for (Locked& one : locked) {
    if (one.begin.load() == begin) place = &one;
  }
  for (Locked& one : locked) {
    std::uintptr_t none = 0;
    if (place == nullptr && one.begin.compare_exchange_strong(none, begin)) place = &one;
  }
  if (place == nullptr) return;  // more regions than places: this one goes unwatched
  std::snprintf(place->line.data(), place->line.size(),
                "teeny: error: the host touched mapped memory (%zu bytes) that %s may still use\n"
                "teeny: wait for that work (synchronize the stream, or an event after it) first\n",
                region.bytes, region.what.c_str());
  place->end.store(begin + whole_pages(region.bytes));
  ::mprotect(region.block.host, whole_pages(region.bytes), PROT_NONE);
}

void AccessGuard::let_in(Region& region) {
  region.used_by.clear();
  if (!region.pages) return;
  ::mprotect(region.block.host, whole_pages(region.bytes), PROT_READ | PROT_WRITE);
  for (Locked& one : locked) {
    if (one.begin.load() != reinterpret_cast<std::uintptr_t>(region.block.host)) continue;
    one.end.store(0);
    one.begin.store(0);
  }
}

void AccessGuard::begin_launch(StreamState& stream, const KernelInstance& kernel,
                               const void* const* values) {
  const std::lock_guard lock(mutex_);
  const u64 count = ++stream.asked;
  for (std::size_t i = 0; i < kernel.signature.size(); ++i) {
    if (!kernel.signature[i].pointer) continue;
    u64 address = 0;
    std::memcpy(&address, values[i], sizeof address);
    Region* region = region_of(address);
    if (region != nullptr) lock_out(*region, stream, count, "kernel " + kernel.name);
  }
}

void AccessGuard::after_copy(StreamState& stream, std::initializer_list<u64> addresses) {
  const std::lock_guard lock(mutex_);
  const u64 count = ++stream.asked;
  for (const u64 address : addresses) {
    Region* region = region_of(address);
    if (region != nullptr) lock_out(*region, stream, count, "a copy");
  }
}

void AccessGuard::after_graph(StreamState& stream) {
  const std::lock_guard lock(mutex_);
  const u64 count = ++stream.asked;
  for (const auto& region : regions_) lock_out(*region, stream, count, "a graph");
}

const void* AccessGuard::reachable(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<u64>(host);
  const Region* region = region_of(address);
  if (region == nullptr || region->block.backing == nullptr) return host;
  const auto begin = reinterpret_cast<u64>(region->block.host);
  if (address < begin || address >= begin + region->bytes) return host;
  return static_cast<const char*>(region->block.backing) + (address - begin);
}

Progress AccessGuard::progress_of(StreamState& stream) {
  const std::lock_guard lock(mutex_);
  Progress progress = stream.waited_for;
  reach(progress, {stream.number, stream.asked.load()});
  return progress;
}

void AccessGuard::waits_for(StreamState& stream, const EventState& event) {
  const std::lock_guard lock(mutex_);
  for (const auto& point : event.progress) reach(stream.waited_for, point);
}

void AccessGuard::reached(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  for (const auto& region : regions_) {
    auto& uses = region->used_by;
    if (uses.empty()) continue;
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const auto& use) { return covers(progress, use); }),
               uses.end());
    if (uses.empty()) let_in(*region);
  }
}

void AccessGuard::reached_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& region : regions_) let_in(*region);
}

void AccessGuard::check_host(const void* host) {
  const std::lock_guard lock(mutex_);
  const Region* region = region_of(reinterpret_cast<u64>(host));
  // Where the pages are locked, a touch is noticed when it happens, and the address is harmless.
  if (region == nullptr || region->pages || region->used_by.empty()) return;
  throw Error(ErrorKind::usage,
              "the host wants mapped memory (" + std::to_string(region->bytes) + " bytes) that " +
                  region->what + " may still use",
              "wait for that work (synchronize the stream, or an event after it) first");
}

}  // namespace teeny::detail
