#include <llvm/IR/Metadata.h>

#include "compiler/llvm/module.hpp"
#include "compiler/nvptx/chip.hpp"
#include "compiler/nvptx/emitter.hpp"
#include "compiler/nvptx/instructions.hpp"
#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/gather_loads.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler {
namespace {

using namespace nvptx;

/// Launch bounds: the number of threads is known, so the assembler need not guess how many
/// registers each may have.
void annotate(llvm::Module& module, const std::string& name, int threads, int max_registers) {
  llvm::LLVMContext& context = module.getContext();
  llvm::NamedMDNode* annotations = module.getOrInsertNamedMetadata("nvvm.annotations");
  const auto add = [&](const char* key, int value) {
    llvm::Metadata* fields[] = {
        llvm::ConstantAsMetadata::get(module.getFunction(name)), llvm::MDString::get(context, key),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context),
                                                             static_cast<std::uint64_t>(value)))};
    annotations->addOperand(llvm::MDNode::get(context, fields));
  };
  add("reqntidx", threads);
  add("reqntidy", 1);
  add("reqntidz", 1);
  if (max_registers > 0) add("maxnreg", max_registers);
}

/// The kernel comes as straight code in SSA form, with its loops and constants where they belong,
/// so a few passes find what there is to find; LLVM's own pipeline takes four times as long for the
/// same machine code, and ptxas optimises once more.
void optimise_ptx(llvm::Module& module, llvm::TargetMachine& machine, int opt_level) {
  if (opt_level == 0 || opt_level >= 3) return optimise(module, machine, opt_level);
  const std::string simplify = "early-cse,instcombine<no-verify-fixpoint>";
  const std::string loops = opt_level >= 2 ? ",loop-mssa(licm),early-cse<memssa>" : "";
  optimise(module, machine, "function(" + simplify + loops + ",simplifycfg)");
}

/// Replaces what follows `key` at the beginning of the first line that begins with it.
void rewrite_line(std::string& text, const std::string& key, const std::string& value) {
  const std::size_t begin = text.find("\n" + key) + 1;
  const std::size_t end = text.find('\n', begin);
  if (begin == 0 || end == std::string::npos) {
    throw Error(ErrorKind::internal, "LLVM wrote PTX without a line " + key);
  }
  text.replace(begin, end - begin, key + value);
}

void check_shared(const ir::Kernel& kernel, Capability capability, std::uint64_t bytes) {
  const CapabilityInfo* chip = find_capability(capability);
  const std::uint64_t limit = 1024 * static_cast<std::uint64_t>(chip->max_shared_per_block_kib);
  if (bytes <= limit) return;
  throw Error(ErrorKind::input,
              "kernel " + kernel.name + " needs " + std::to_string(bytes) +
                  " bytes of shared memory a block; " + capability.name() + " (" +
                  std::string(chip->chips) + ") gives " + std::to_string(limit) + " at most",
              "lower the extents of the tiles that it multiplies or moves");
}

}  // namespace

Artifact compile_ptx(const ir::Kernel& prepared, const CudaTarget& target) {
  // The two C++ identifiers that PTX does not take for a symbol.
  if (prepared.name == "_" || prepared.name == "WARP_SZ") {
    throw Error(ErrorKind::input, "kernel " + prepared.name + ": PTX takes no symbol of this name",
                "give the kernel another name");
  }
  if (target.line_info) {
    throw Error(ErrorKind::input,
                "kernel " + prepared.name + ": line-info was asked for, and kernels have no lines",
                "leave line-info out");
  }
  const auto families = families_of(prepared, target.capability);
  const PtxVersion version =
      choose_ptx_version(prepared, target.capability, families, target.ptx_version);
  const LlvmChip chip = llvm_chip(target.capability, version);
  const auto machine =
      make_target_machine("nvptx64-nvidia-cuda", chip.cpu, chip.features, target.opt_level);

  Context context;
  llvm::Module& module = context.make_module(prepared.name, *machine);
  const ir::Kernel gathered = gather_loads(prepared);
  Emitter emitter(module, gathered, target.capability);
  emitter.emit();
  check_shared(prepared, target.capability, emitter.shared_bytes());
  const int threads = 32 * prepared.options.num_warps;
  annotate(module, prepared.name, threads,
           target.max_registers.value_or(prepared.options.max_registers));
  optimise_ptx(module, *machine, target.opt_level);
  context.check(prepared.name);
  std::string code = emit(module, *machine, Emit::assembly);
  context.check(prepared.name);
  rewrite_line(code, ".version ", version.name());
  rewrite_line(code, ".target ", target.capability.name());

  Artifact artifact;
  ArtifactInfo& info = artifact.info;
  info.kind = ArtifactKind::ptx;
  info.kernel = prepared.name;
  CudaTarget taken = target;
  taken.ptx_version = version;
  info.target = Target(taken).canonical();
  info.capability = target.capability;
  info.ptx_version = version;
  for (const ir::Type& parameter : prepared.parameters()) {
    info.parameters.push_back(ir::to_string(parameter));
  }
  info.launch_abi = ir::launch_abi;
  info.threads = threads;
  info.shared_bytes = emitter.shared_bytes();
  artifact.code = std::move(code);
  return artifact;
}

}  // namespace teeny::compiler
