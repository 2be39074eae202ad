#include "compiler/compile.hpp"

#include "compiler/cpu/cpu.hpp"
#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/passes.hpp"

namespace teeny::compiler {

Artifact compile(const ir::Kernel& kernel, const Target& target) {
  const ir::Kernel prepared = prepare(kernel);
  return target.is_cuda() ? compile_ptx(prepared, target.cuda())
                          : compile_cpu(prepared, target.cpu());
}

}  // namespace teeny::compiler
