#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace teeny {

/// Whether a program's device memory fits a board.
enum class MemoryFit : std::uint8_t {
  unknown,  ///< the program does not declare what it needs; not the same as needing nothing
  fits,
  too_little,
};

/// What stays free for the rest of the board: a sixteenth of its memory, at least 256 MiB. Bytes.
[[nodiscard]] std::uint64_t memory_margin(std::uint64_t total) noexcept;

/// The rule: a declared peak of device bytes must be within what is available (MemAvailable of an
/// integrated board, else the device's free memory) less the margin. `why`, when given, receives
/// one line: what is wanted, what `holder` has ("board jetson-orin-nano@6.2", "cuda:0").
[[nodiscard]] MemoryFit fit_memory(std::optional<std::uint64_t> peak_bytes, std::uint64_t available,
                                   std::uint64_t margin, const std::string& holder,
                                   std::string* why = nullptr);

}  // namespace teeny
