#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stream_state.hpp"

#include "teeny/lang/instance.hpp"

namespace teeny::detail {

/// Pages of shared memory; another address of the same pages is `view_again`'s.
[[nodiscard]] void* allocate_pages(std::size_t bytes);
[[nodiscard]] void* view_again(void* pages, std::size_t bytes);
void release_pages(void* pages, std::size_t bytes) noexcept;

/// Finds what only fails now and then: the host touching mapped memory while work that uses it may
/// run. From the launch (or copy) until somebody has waited for it, the host's pages are locked; a
/// touch ends the process by SIGSEGV after a line that names the kernel. On with
/// TEENY_CHECK_ACCESS=1; each launch then costs system calls.
class AccessGuard {
 public:
  /// Null when the variable is not set; Error(usage) for a value that is neither 0 nor 1.
  [[nodiscard]] static std::unique_ptr<AccessGuard> from_environment();

  /// From now on these bytes are watched. `pages`: the host's address is of allocate_pages and can
  /// be locked; without, only Allocation::host notices.
  void add(const Block& block, std::size_t bytes, bool pages);
  /// No longer; returns the block that was added, which is the caller's again.
  Block remove(const void* host);

  /// `stream` is about to be asked for a launch.
  void begin_launch(StreamState& stream, const KernelInstance& kernel, const void* const* values);
  /// It was asked for a copy from or to these addresses, of either side.
  void after_copy(StreamState& stream, std::initializer_list<u64> addresses);
  /// It was asked for a graph, which may use anything.
  void after_graph(StreamState& stream);
  /// The backing of a host address that is watched; any other address as it is.
  [[nodiscard]] const void* reachable(const void* host);

  [[nodiscard]] Progress progress_of(StreamState& stream);
  void waits_for(StreamState& stream, const EventState& event);
  /// All work up to there is done.
  void reached(const Progress& progress);
  void reached_all();

  /// Error(usage) naming the work that may use the block whose host address this is.
  void check_host(const void* host);

 private:
  struct Region {
    Block block;
    std::size_t bytes;
    bool pages;
    Progress used_by;
    std::string what;
  };
  void lock_out(Region& region, const StreamState& stream, u64 count, const std::string& what);
  void let_in(Region& region);
  Region* region_of(u64 address);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace teeny::detail
