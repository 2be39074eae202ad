#pragma once

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// Compiles one verified kernel for one target in this process. `info.key`, `info.compiler` and
/// `info.fingerprint` are left to the caller. Error(input) for what the target cannot do (asked of
/// the tables before lowering), Error(internal) for what LLVM reports.
[[nodiscard]] Artifact compile(const ir::Kernel& kernel, const Target& target);

}  // namespace teeny::compiler
