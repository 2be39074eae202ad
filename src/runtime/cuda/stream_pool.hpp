#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "driver.hpp"

#include "teeny/base/dtype.hpp"

namespace teeny::detail {

/// Stream-ordered memory for drivers without pools of their own: freed blocks are kept, and given
/// out again, best to the same stream, behind the work that was asked of their stream before they
/// were freed. The device's context is current when its functions are called. Thread-safe.
class StreamPool {
 public:
  explicit StreamPool(const cuda::Driver& driver) : driver_(driver) {}
  ~StreamPool() = default;  // with its device, at the end of the process
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  /// The driver's result; `address` is set when it is 0.
  [[nodiscard]] cuda::Result allocate(u64* address, std::size_t bytes, cuda::Stream stream);
  void release(u64 address, cuda::Stream stream) noexcept;
  /// Frees all blocks that nobody holds. Waits for the work that used them.
  void trim() noexcept;

  /// What a request is rounded up to: at most an eighth more, so that few sizes exist.
  [[nodiscard]] static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  struct Block {
    u64 address;
    cuda::Stream stream;  // the one it was freed in
    cuda::Event freed;    // recorded there
  };
  [[nodiscard]] bool take(u64* address, std::size_t size, cuda::Stream stream);

  const cuda::Driver& driver_;
  std::mutex mutex_;
  std::multimap<std::size_t, Block> free_;
  std::unordered_map<u64, std::size_t> held_;
};

}  // namespace teeny::detail
