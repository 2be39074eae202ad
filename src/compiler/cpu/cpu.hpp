#pragma once

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// A prepared kernel (see passes.hpp) to a shared object for a CPU; launch_abi as in ir/kernel.hpp.
/// Undefined symbols other than memcpy, memmove and memset are Error(internal) naming them.
[[nodiscard]] Artifact compile_cpu(const ir::Kernel& prepared, const CpuTarget& target);

}  // namespace teeny::compiler
