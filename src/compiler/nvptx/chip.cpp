#include "compiler/nvptx/chip.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

LlvmChip llvm_chip(Capability capability, PtxVersion version) {
  static constexpr int known[] = {60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74,
                                  75, 76, 77, 78, 80, 81, 82, 83, 84, 85};
  int taken = 0;
  for (const int one : known) {
    if (one <= version.number()) taken = one;
  }
  if (taken == 0) {
    throw Error(ErrorKind::internal, "LLVM writes no PTX " + version.name());
  }
  const bool newer_than_llvm = capability.number() > 90;
  return {newer_than_llvm ? "sm_90" : capability.name(), "+ptx" + std::to_string(taken)};
}

}  // namespace teeny::compiler::nvptx
