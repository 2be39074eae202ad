#include "compiler/llvm/module.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "teeny/base/error.hpp"

namespace teeny::compiler {
namespace {

// How many fatal errors this thread has left LLVM by; see Context.
thread_local std::uint64_t fatal_errors = 0;

constexpr const char* report = "this is a bug in teeny: please report it with the kernel's IR";

// LLVM would end the process after this; leaving by an exception keeps teenyc alive.
[[noreturn]] void on_fatal_error(void*, const char* reason, bool) {
  ++fatal_errors;
  throw Error(ErrorKind::internal, std::string("LLVM gave up: ") + reason, report);
}

llvm::OptimizationLevel pipeline_level(int level) {
  switch (level) {
    case 0:
      return llvm::OptimizationLevel::O0;
    case 1:
      return llvm::OptimizationLevel::O1;
    case 2:
      return llvm::OptimizationLevel::O2;
    default:
      return llvm::OptimizationLevel::O3;
  }
}

llvm::CodeGenOptLevel codegen_level(int level) {
  switch (level) {
    case 0:
      return llvm::CodeGenOptLevel::None;
    case 1:
      return llvm::CodeGenOptLevel::Less;
    case 2:
      return llvm::CodeGenOptLevel::Default;
    default:
      return llvm::CodeGenOptLevel::Aggressive;
  }
}

class Collector final : public llvm::DiagnosticHandler {
 public:
  explicit Collector(std::vector<std::string>& errors) : errors_(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      errors_.push_back(std::move(text));
    }
    return true;  // handled: LLVM's own handler would print, and exit on errors
  }

 private:
  std::vector<std::string>& errors_;
};

}  // namespace

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    llvm::install_fatal_error_handler(on_fatal_error);
  });
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const std::string& triple,
                                                         const std::string& cpu,
                                                         const std::string& features,
                                                         int opt_level) {
  initialise_llvm();
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) {
    throw Error(ErrorKind::internal, "LLVM has no code generator for " + triple + ": " + problem);
  }
  // An unknown processor is only a warning to LLVM, which then makes code for a very old one.
  const std::unique_ptr<llvm::MCSubtargetInfo> processors(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!processors->isCPUStringValid(cpu)) {
    throw Error(ErrorKind::input, "there is no processor '" + cpu + "' for " + triple + " in LLVM",
                "give one that `llc -mtriple=" + triple + " -mcpu=help` lists");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::optional<llvm::Reloc::Model> relocation;
  if (!llvm::Triple(triple).isNVPTX()) relocation = llvm::Reloc::PIC_;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, options, relocation, std::nullopt, codegen_level(opt_level)));
  if (!machine) {
    throw Error(ErrorKind::internal,
                "LLVM cannot make code for processor " + cpu + " of " + triple);
  }
  return machine;
}

struct Context::State {
  std::uint64_t fatal_before = fatal_errors;
  std::vector<std::string> errors;
  llvm::LLVMContext context;
  std::vector<std::unique_ptr<llvm::Module>> modules;  // destroyed before the context
};

Context::Context() : state_(std::make_unique<State>()) {
  initialise_llvm();
  state_->context.setDiscardValueNames(true);
  state_->context.setDiagnosticHandler(std::make_unique<Collector>(state_->errors));
}

Context::~Context() {
  if (fatal_errors != state_->fatal_before) static_cast<void>(state_.release());
}

llvm::LLVMContext& Context::get() noexcept { return state_->context; }

llvm::Module& Context::make_module(const std::string& name, const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>(name, state_->context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  state_->modules.push_back(std::move(module));
  return *state_->modules.back();
}

void Context::check(const std::string& kernel) const {
  if (state_->errors.empty()) return;
  std::string text;
  for (const auto& error : state_->errors) text += (text.empty() ? "" : "; ") + error;
  throw Error(ErrorKind::internal, "LLVM cannot compile kernel " + kernel + ": " + text, report);
}

namespace {

void verify(const llvm::Module& module) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    throw Error(
        ErrorKind::internal,
        "the LLVM IR made for kernel " + module.getModuleIdentifier() + " is not valid: " + problem,
        report);
  }
}

/// LLVM's analyses, in the order in which they may be destroyed.
struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, int opt_level) {
  verify(module);
  const bool vectorise = opt_level >= 2 && !machine.getTargetTriple().isNVPTX();
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = vectorise;
  tuning.LoopInterleaving = vectorise;
  tuning.SLPVectorization = vectorise;
  llvm::PassBuilder builder(&machine, tuning);
  Analyses analyses(builder);
  const auto level = pipeline_level(opt_level);
  auto passes = opt_level == 0 ? builder.buildO0DefaultPipeline(level)
                               : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, analyses.modules);
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& pipeline) {
  verify(module);
  llvm::PassBuilder builder(&machine);
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  if (llvm::Error problem = builder.parsePassPipeline(passes, pipeline)) {
    throw Error(ErrorKind::internal,
                "LLVM does not know these passes: " + llvm::toString(std::move(problem)), report);
  }
  passes.run(module, analyses.modules);
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, Emit what) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto type = what == Emit::object ? llvm::CodeGenFileType::ObjectFile
                                         : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw Error(ErrorKind::internal,
                "LLVM cannot emit this kind of file for " + machine.getTargetTriple().str());
  }
  passes.run(module);
  return {bytes.data(), bytes.size()};
}

}  // namespace teeny::compiler
