#pragma once

#include <string>

#include "teeny/target/capability.hpp"
#include "teeny/target/ptx_version.hpp"

namespace teeny::compiler::nvptx {

/// LLVM's words for a chip. The only place that knows them: all else asks the capability.
struct LlvmChip {
  std::string cpu;       ///< "sm_87"
  std::string features;  ///< "+ptx74"
};

/// The processor whose code runs on a chip of `capability` and the PTX version LLVM may choose
/// instructions by: the highest it knows that is not above `version`, so that nothing it picks is
/// newer than what the file says. Chips that LLVM 19 lacks take the code of sm_90.
[[nodiscard]] LlvmChip llvm_chip(Capability capability, PtxVersion version);

}  // namespace teeny::compiler::nvptx
