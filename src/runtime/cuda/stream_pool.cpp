#include "stream_pool.hpp"

#include <algorithm>

namespace teeny::detail {

std::size_t StreamPool::rounded(std::size_t bytes) noexcept {
  constexpr std::size_t least = 512;
  if (bytes <= least) return least;
  std::size_t step = least;
  while (step * 16 <= bytes) step *= 2;  // eight to sixteen steps
  return (bytes + step - 1) / step * step;
}

bool StreamPool::take(u64* address, std::size_t size, cuda::Stream stream) {
  auto [at, end] = free_.equal_range(size);
  if (at == end) return false;
  const auto same =
      std::find_if(at, end, [&](const auto& block) { return block.second.stream == stream; });
  if (same != end) at = same;
  const Block& block = at->second;
  // Of the same stream it costs nothing; and a new stream may have the handle of one that is gone,
  // whose work goes on.
  if (driver_.stream_wait(stream, block.freed, 0) != 0) return false;
  *address = block.address;
  driver_.event_destroy(block.freed);
  held_[block.address] = size;
  free_.erase(at);
  return true;
}

cuda::Result StreamPool::allocate(u64* address, std::size_t bytes, cuda::Stream stream) {
  const std::size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  if (take(address, size, stream)) return 0;
  const cuda::Result result = driver_.memory_allocate(address, size);
  if (result == 0) held_[*address] = size;
  return result;
}

void StreamPool::release(u64 address, cuda::Stream stream) noexcept {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(address);
  if (held == held_.end()) return;
  Block block{address, stream, nullptr};
  if (driver_.event_create(&block.freed, 0) == 0 &&
      driver_.event_record(block.freed, stream) == 0) {
    free_.emplace(held->second, block);
  } else {
    if (block.freed != nullptr) driver_.event_destroy(block.freed);
    driver_.memory_free(address);  // waits for the work that uses it
  }
  held_.erase(held);
}

void StreamPool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [size, block] : free_) {
    driver_.event_destroy(block.freed);
    driver_.memory_free(block.address);
  }
  free_.clear();
}

}  // namespace teeny::detail
