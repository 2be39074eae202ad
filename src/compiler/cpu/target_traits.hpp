#pragma once

#include <llvm/Target/TargetMachine.h>

namespace teeny::compiler::cpu {

/// What the loops of a CPU kernel are shaped for.
struct CpuTraits {
  int vector_bytes = 16;  ///< of one vector register
  int vector_registers = 16;
  bool half_arithmetic = false;  ///< computes on f16 itself
  [[nodiscard]] static CpuTraits of(const llvm::TargetMachine& machine);
};

}  // namespace teeny::compiler::cpu
