#include "teeny/target/memory.hpp"

#include <algorithm>

namespace teeny {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// Rounded against the reader's hopes: wanted up, had down.
std::string mebibytes(std::uint64_t bytes, bool up) {
  return std::to_string(bytes / mebibyte + (up && bytes % mebibyte != 0 ? 1 : 0)) + " MiB";
}

}  // namespace

std::uint64_t memory_margin(std::uint64_t total) noexcept {
  return std::max<std::uint64_t>(total / 16, 256 * mebibyte);
}

MemoryFit fit_memory(std::optional<std::uint64_t> peak_bytes, std::uint64_t available,
                     std::uint64_t margin, const std::string& holder, std::string* why) {
  const std::uint64_t usable = available - std::min(available, margin);
  const std::string has = holder + " has " + mebibytes(available, false) + " available, of which " +
                          mebibytes(margin, true) + " stay free";
  if (!peak_bytes) {
    if (why != nullptr) *why = "the program does not declare its device memory; " + has;
    return MemoryFit::unknown;
  }
  if (why != nullptr) {
    *why = "wanted " + mebibytes(*peak_bytes, true) + " of device memory, " + has;
  }
  return *peak_bytes <= usable ? MemoryFit::fits : MemoryFit::too_little;
}

}  // namespace teeny
