#pragma once

#include <cstdint>
#include <vector>

#include "compiler/layout/linear_layout.hpp"

namespace teeny::compiler {

/// log2 of how many neighbours along `axis` every thread holds in registers of its own, the first
/// of them at a multiple of that many.
[[nodiscard]] int run_bits(const LinearLayout& layout, const ir::Shape& shape, int axis);

/// All registers of a thread as runs of 2^bits (at most run_bits) neighbours along `axis`, in their
/// order along it.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> runs_of(const LinearLayout& layout,
                                                              const ir::Shape& shape, int axis,
                                                              int bits);

}  // namespace teeny::compiler
