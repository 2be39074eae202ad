#pragma once

#include "teeny/runtime/grid.hpp"
#include "teeny/runtime/kernel_entry.hpp"

namespace teeny::detail {

/// Error(usage) for a grid that is empty or beyond the limits of grid.hpp.
void check_grid(const KernelEntry& entry, const Grid& grid);

}  // namespace teeny::detail
