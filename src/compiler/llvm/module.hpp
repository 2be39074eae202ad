#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace teeny::compiler {

/// Registers NVPTX, X86 and AArch64 and the fatal-error net, once a process.
void initialise_llvm();

/// A TargetMachine for an LLVM triple, processor and features (comma form). Nothing is contracted
/// into fma; CPU code is position independent. Error(internal) for what LLVM does not know.
[[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_target_machine(const std::string& triple,
                                                                       const std::string& cpu,
                                                                       const std::string& features,
                                                                       int opt_level);

/// An LLVM context whose diagnostics are collected, and the modules made in it. When LLVM met a
/// fatal error meanwhile, its own frames were left without cleaning up, so the context and its
/// modules are then leaked instead of destroyed: what is left in them may point to those frames.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] llvm::LLVMContext& get() noexcept;
  /// A new module with the triple and data layout of `machine`, owned by this context.
  [[nodiscard]] llvm::Module& make_module(const std::string& name,
                                          const llvm::TargetMachine& machine);
  /// Error(internal) naming the kernel when LLVM has reported an error since the beginning.
  void check(const std::string& kernel) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Verifies, then runs LLVM's pipeline of that level (0 to 3; vectorisers from 2 on CPU targets).
/// Error(internal) with LLVM's words for a module that is not valid.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, int opt_level);
/// Verifies, then runs the passes of `pipeline`, in LLVM's text form: for code that needs few of
/// them.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& pipeline);
enum class Emit { assembly, object };
[[nodiscard]] std::string emit(llvm::Module& module, llvm::TargetMachine& machine, Emit what);

}  // namespace teeny::compiler
