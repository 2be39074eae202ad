#pragma once

#include <cstddef>

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// Puts loads that do not wait for one another next to each other, behind what their addresses are
/// computed of, so that a backend can have all of them under way at a time: as many as leave a
/// thread registers for something else. Every load stays between the same writes and regions.
[[nodiscard]] ir::Kernel gather_loads(const ir::Kernel& kernel);

/// How many operations from `first` on are such loads: 0 where there is no load.
[[nodiscard]] std::size_t gathered_loads(const ir::Kernel& kernel, const ir::Block& block,
                                         std::size_t first);

}  // namespace teeny::compiler
