#pragma once

#include <string>

#include <llvm/TargetParser/Triple.h>

namespace teeny::compiler::cpu {

/// Links one object into a stripped shared object by lld, in this process, with no sysroot: the
/// same bytes in any directory. Error(internal) with lld's words.
[[nodiscard]] std::string link_shared_object(const std::string& object, const llvm::Triple& triple,
                                             const std::string& kernel);

/// Names an object needs from elsewhere, but for memcpy, memmove and memset; sorted.
[[nodiscard]] std::string undefined_symbols(const std::string& object, const std::string& kernel);

}  // namespace teeny::compiler::cpu
