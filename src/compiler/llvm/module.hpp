#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace teeny::compiler {

/// Registers NVPTX, X86 and AArch64 and the fatal-error net, once a process.
void initialise_llvm();

/// A TargetMachine for an LLVM triple, processor and features (comma form). Error(internal).
[[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_target_machine(const std::string& triple, const std::string& cpu,
                                                                       const std::string& features, int opt_level);

/// A context whose diagnostics are collected: errors become an Error(internal) at `check`.
class Context {
 public:
  Context();
  ~Context();
  [[nodiscard]] llvm::LLVMContext& get() noexcept;
  void check(const std::string& kernel) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Verifies, then runs LLVM's pipeline of that level (0 to 3; vectorisers from 2 on CPU targets).
void optimise(llvm::Module& module, llvm::TargetMachine& machine, int opt_level);
enum class Emit { assembly, object };
[[nodiscard]] std::string emit(llvm::Module& module, llvm::TargetMachine& machine, Emit what);

}  // namespace teeny::compiler
