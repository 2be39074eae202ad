#include "compiler/passes/passes.hpp"

namespace teeny::compiler {

ir::Kernel prepare(const ir::Kernel& kernel) {
  return canonicalise(expand_math(canonicalise(expand_views(kernel))));
}

}  // namespace teeny::compiler
