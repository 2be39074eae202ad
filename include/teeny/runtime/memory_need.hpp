#pragma once

#include <optional>

#include "teeny/base/dtype.hpp"

namespace teeny {

/// Says that the need was declared; holds nothing.
struct MemoryNeed {};

/// Declares how many bytes of device memory the program holds at its peak, pooled memory included;
/// at namespace scope, so that it is known without a run and travels in the package:
///
///   const auto need = teeny::memory_need(std::uint64_t{512} << 20);
///
/// Several declarations (of a program's parts) add up. A board is asked before the program is
/// started there; without a declaration its need is unknown, which is not 0.
[[nodiscard]] MemoryNeed memory_need(u64 bytes);

/// The sum of what was declared; nullopt when nothing was.
[[nodiscard]] std::optional<u64> declared_memory_need();

}  // namespace teeny
