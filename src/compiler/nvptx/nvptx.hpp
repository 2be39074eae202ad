#pragma once

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// A prepared kernel (see passes.hpp) to PTX for a CUDA target. Asks the instruction table for the
/// PTX version that the kernel needs: a given version below it is Error(input) naming instruction,
/// its floor and the version given; none given takes the lowest that works. Error(input) too for
/// what the chip has too little of (shared memory, registers), naming what to lower. Calls do not
/// know of one another: they may come from several threads, and the same kernel gives the same
/// bytes.
[[nodiscard]] Artifact compile_ptx(const ir::Kernel& prepared, const CudaTarget& target);

}  // namespace teeny::compiler
