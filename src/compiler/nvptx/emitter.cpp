#include "compiler/nvptx/emitter.hpp"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/passes/gather_loads.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Op;
using ir::Opcode;
using ir::ValueId;

namespace {

/// More than this many registers of one tile leave none for anything else (a thread has 255).
constexpr std::uint32_t max_registers_of_tile = 512;

/// Reads a special register whose value is known to lie in [0, limit).
llvm::Value* read_special(Builder& builder, llvm::Intrinsic::ID id, std::uint64_t lowest,
                          std::uint64_t limit) {
  llvm::CallInst* call = builder.CreateIntrinsic(id, {}, {});
  llvm::MDBuilder metadata(builder.getContext());
  call->setMetadata(llvm::LLVMContext::MD_range,
                    metadata.createRange(llvm::APInt(32, lowest), llvm::APInt(32, limit)));
  return call;
}

}  // namespace

Emitter::Emitter(llvm::Module& module, const ir::Kernel& kernel, Capability capability)
    : module_(module),
      kernel_(kernel),
      capability_(capability),
      axes_(kernel),
      plan_(plan_layouts(kernel, axes_)),
      builder_(module.getContext()),
      ops_(builder_, capability),
      values_(kernel.values.size()) {}

void Emitter::emit() {
  check_register_counts();
  begin_function();
  emit_block(kernel_.body);
  builder_.CreateRetVoid();
}

void Emitter::check_register_counts() const {
  for (ValueId value = 0; value < plan_.layouts.size(); ++value) {
    for (const LayoutId id : plan_.layouts[value]) {
      const std::uint32_t count = layout(id).register_count();
      if (count <= max_registers_of_tile) continue;
      throw Error(ErrorKind::input,
                  "kernel " + kernel_.name + ": a tile of " + ir::to_string(type(value)) +
                      " takes " + std::to_string(count) + " registers of each of " +
                      std::to_string(32 * kernel_.options.num_warps) + " threads, of which " +
                      std::to_string(max_registers_of_tile) + " are the most",
                  "take a smaller tile, or raise num_warps");
    }
  }
}

void Emitter::begin_function() {
  llvm::LLVMContext& context = module_.getContext();
  std::vector<llvm::Type*> parameters;
  for (const ir::Type& parameter : kernel_.parameters()) {
    parameters.push_back(memory_type(context, parameter));
  }
  auto* function_type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
  function_ = llvm::Function::Create(function_type, llvm::GlobalValue::ExternalLinkage,
                                     kernel_.name, module_);
  function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  shared_ = new llvm::GlobalVariable(
      module_, llvm::ArrayType::get(llvm::Type::getInt8Ty(context), 0), false,
      llvm::GlobalValue::ExternalLinkage, nullptr, kernel_.name + "_shared", nullptr,
      llvm::GlobalValue::NotThreadLocal, shared_space);
  shared_->setAlignment(llvm::Align(16));

  entry_ = new_block();
  builder_.SetInsertPoint(entry_);
  const auto threads = static_cast<std::uint64_t>(32 * kernel_.options.num_warps);
  thread_ = read_special(builder_, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, 0, threads);
  lane_ = builder_.CreateAnd(thread_, 31);
  warp_ = builder_.CreateLShr(thread_, 5);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ValueId value = kernel_.body.arguments[i];
    llvm::Argument* argument = function_->getArg(static_cast<unsigned>(i));
    set_scalar(value, from_memory(builder_, type(value), argument));
  }
  llvm::BasicBlock* body = new_block();
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
}

llvm::BasicBlock* Emitter::new_block() {
  return llvm::BasicBlock::Create(module_.getContext(), "", function_);
}

llvm::Value* Emitter::at_entry(const std::function<Value*(Builder&)>& compute) {
  Builder builder(entry_->getTerminator());
  return compute(builder);
}

void Emitter::emit_block(const ir::Block& block) {
  for (std::size_t i = 0; i < block.ops.size();) {
    std::vector<const Op*> loads;
    for (std::size_t count = gathered_loads(kernel_, block, i); count > 0; --count) {
      loads.push_back(&block.ops[i++]);
    }
    if (!loads.empty()) {
      emit_loads(loads);
    } else {
      emit_op(block.ops[i++]);
    }
  }
}

void Emitter::emit_op(const Op& op) {
  switch (op.code) {
    case Opcode::constant:
      if (single(op.results[0])) {
        set_scalar(op.results[0],
                   constant(module_.getContext(), type(op.results[0]).dtype, op.bits));
        return;
      }
      return emit_pointwise(op);
    case Opcode::program_id: {
      static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
      return set_scalar(op.results[0], read_special(builder_, ids[op.index], 0, 0x7fffffff));
    }
    case Opcode::num_programs: {
      static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                                    llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
      return set_scalar(op.results[0], read_special(builder_, ids[op.index], 1, 0x80000000));
    }
    case Opcode::store:
      return emit_store(op);
    case Opcode::reduce:
      return emit_reduce(op);
    case Opcode::dot:
      return emit_dot(op);
    case Opcode::fold:
      return emit_fold(op);
    case Opcode::if_:
      return emit_if(op);
    case Opcode::yield:
      return;
    case Opcode::load_view:
    case Opcode::store_view:
      throw Error(
          ErrorKind::internal,
          "kernel " + kernel_.name + ": a view reached the PTX backend without being expanded",
          "this is a bug in teeny: please report it with the kernel's IR");
    default:
      return emit_pointwise(op);
  }
}

}  // namespace teeny::compiler::nvptx
