#include "compiler/cpu/cpu.hpp"

#include "compiler/cpu/conversion.hpp"
#include "compiler/cpu/link.hpp"
#include "compiler/cpu/lowering.hpp"
#include "compiler/llvm/module.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler {
namespace {

/// "dotprod+-sve" to LLVM's "+dotprod,-sve".
std::string with_commas(const std::string& features) {
  std::string result;
  for (const std::string& feature : feature_list(features)) {
    result += (result.empty() ? "" : ",") + feature;
  }
  return result;
}

}  // namespace

Artifact compile_cpu(const ir::Kernel& prepared, const CpuTarget& target) {
  const auto machine = make_target_machine(target.triple, target.cpu, with_commas(target.features),
                                           target.opt_level);
  Context context;
  llvm::Module& module = context.make_module(prepared.name, *machine);
  const auto traits = cpu::CpuTraits::of(*machine);
  cpu::Lowering lowering(prepared, module, traits);
  lowering.run();
  if (traits.half_arithmetic) cpu::resolve_half_conversions(module);
  optimise(module, *machine, target.opt_level);
  if (!traits.half_arithmetic) cpu::resolve_half_conversions(module);
  const std::string object = emit(module, *machine, Emit::object);
  context.check(prepared.name);
  const std::string undefined = cpu::undefined_symbols(object, prepared.name);
  if (!undefined.empty()) {
    throw Error(ErrorKind::internal,
                "kernel " + prepared.name + " for " + target.cpu +
                    " needs what the processor does not have and no library provides: " + undefined,
                "choose a processor with the instructions (x86-64-v3 or later), or report this");
  }
  Artifact artifact;
  artifact.code = cpu::link_shared_object(object, machine->getTargetTriple(), prepared.name);
  ArtifactInfo& info = artifact.info;
  info.kind = ArtifactKind::shared_object;
  info.kernel = prepared.name;
  info.target = Target(target).canonical();
  for (const ir::Type& type : prepared.parameters()) info.parameters.push_back(to_string(type));
  info.launch_abi = ir::launch_abi;
  info.threads = 1;
  info.scratch_bytes = lowering.scratch_bytes();
  return artifact;
}

}  // namespace teeny::compiler
