#include "compiler/faulty.hpp"

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Support/ErrorHandling.h>
#include <unistd.h>

#include "compiler/llvm/module.hpp"

#include "teeny/cache/wire.hpp"

namespace teeny::compiler {
namespace {

/// cp.async for a chip that has none: what a missing entry in the instruction table would lead to.
void select_the_impossible() {
  const auto machine = make_target_machine("nvptx64-nvidia-cuda", "sm_75", "+ptx70", 2);
  Context context;
  llvm::Module& module = context.make_module("fault", *machine);
  llvm::IRBuilder<> builder(context.get());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "fault", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context.get(), "", function));
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
  builder.CreateRetVoid();
  static_cast<void>(emit(module, *machine, Emit::assembly));
}

void misbehave(std::string_view fault, int output) {
  if (fault == "abort") std::abort();
  if (fault == "crash") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (fault == "hang") {
    for (;;) ::pause();
  }
  if (fault == "exit") std::_Exit(3);
  if (fault == "fatal") {
    initialise_llvm();
    llvm::report_fatal_error("a planted fatal error");
  }
  if (fault == "select") select_the_impossible();
  if (fault == "garbage") write_bytes(output, "this is not a frame of any protocol, not at all\n");
  if (fault == "short") {
    const std::string frame = encode_frame(R"({"ok":true})", "code");
    write_bytes(output, std::string_view(frame).substr(0, frame.size() / 2));
    std::_Exit(0);
  }
}

}  // namespace

CompileFunction with_faults(CompileFunction compile, int output) {
  return [compile = std::move(compile), output](const ir::Kernel& kernel, const Target& target) {
    const char* planted = std::getenv("TEENYC_FAULT");
    const std::string_view fault = planted != nullptr ? planted : "";
    const std::size_t colon = fault.find(':');
    if (colon != std::string_view::npos && fault.substr(colon + 1) == kernel.name) {
      misbehave(fault.substr(0, colon), output);
    }
    return compile(kernel, target);
  };
}

}  // namespace teeny::compiler
