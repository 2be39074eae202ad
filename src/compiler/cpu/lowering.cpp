#include "compiler/cpu/lowering.hpp"

#include <llvm/IR/Attributes.h>
#include <llvm/IR/Constants.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "teeny/base/error.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::ValueId;
using llvm::Value;

CpuTraits CpuTraits::of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().getArch() == llvm::Triple::aarch64) {
    return {16, 32, processor.checkFeatures("+fullfp16")};
  }
  if (processor.checkFeatures("+avx512f,+avx512bw,+avx512vl,+avx512dq")) return {64, 32, false};
  if (processor.checkFeatures("+avx2")) return {32, 16, false};
  return {16, 16, false};
}

Lowering::Lowering(const ir::Kernel& kernel, llvm::Module& module, const CpuTraits& traits)
    : kernel_(kernel),
      module_(module),
      traits_(traits),
      plan_(make_plan(kernel)),
      builder_(module.getContext()),
      scalars_(kernel.values.size(), nullptr) {}

void Lowering::make_function() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type =
      llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer, pointer}, false);
  function_ =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kernel_.name, module_);
  function_->setDSOLocal(true);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("prefer-vector-width", std::to_string(8 * traits_.vector_bytes));
  function_->addFnAttr("min-legal-vector-width", std::to_string(8 * traits_.vector_bytes));
  for (unsigned i = 0; i < 4; ++i) {
    function_->addParamAttr(i, llvm::Attribute::NoAlias);
    function_->addParamAttr(i, llvm::Attribute::NoUndef);
    if (i < 3) function_->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
  function_->addParamAttr(
      3, llvm::Attribute::getWithAlignment(context, llvm::Align(Scratch::alignment)));
  scratch_base_ = function_->getArg(3);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context, "", function_));
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto element = [&](unsigned argument) {
      return builder_.CreateLoad(builder_.getInt32Ty(),
                                 builder_.CreateConstInBoundsGEP1_32(
                                     builder_.getInt32Ty(), function_->getArg(argument), axis));
    };
    position_[axis] = element(1);
    grid_[axis] = element(2);
  }
  for (unsigned i = 0; i < kernel_.body.arguments.size(); ++i) {
    const ValueId id = kernel_.body.arguments[i];
    const ir::Type& parameter = kernel_.type(id);
    Value* place = builder_.CreateLoad(
        pointer, builder_.CreateConstInBoundsGEP1_32(pointer, function_->getArg(0), i));
    Value* value = builder_.CreateLoad(memory_type(context, parameter), place);
    scalars_[id] = from_memory(builder_, parameter, value);
  }
}

void Lowering::run() {
  make_function();
  emit_block(kernel_.body);
  builder_.CreateRetVoid();
}

void Lowering::emit_block(const ir::Block& block) {
  for (const Op& op : block.ops) {
    emit_op(op);
    release(op);
  }
}

void Lowering::emit_op(const Op& op) {
  switch (op.code) {
    case Opcode::yield:
      return;  // its owner looks at it
    case Opcode::fold:
      return emit_fold(op);
    case Opcode::if_:
      return emit_if(op);
    case Opcode::reduce:
      return emit_reduce(op);
    case Opcode::dot:
      return emit_dot(op);
    case Opcode::store:
      return emit_store(op);
    case Opcode::load_view:
    case Opcode::store_view:
      throw Error(ErrorKind::internal, "a view reached the CPU backend of kernel " + kernel_.name +
                                           "; a pass should have expanded it");
    default:
      break;
  }
  const ValueId value = op.results.front();
  const ir::Type& type = kernel_.type(value);
  if (type.is_scalar()) return emit_scalar(op);
  if (!plan_.stored[value]) return;
  bind(value, type);
  // While it is being made, it must not be read from its own buffer.
  const Buffer buffer = buffers_.extract(value).mapped();
  store_tile(value, buffer);
  buffers_[value] = buffer;
}

void Lowering::emit_scalar(const Op& op) {
  const ValueId value = op.results.front();
  const ir::Type& type = kernel_.type(value);
  const auto operand = [&](std::size_t i) { return scalars_[op.operands[i]]; };
  switch (op.code) {
    case Opcode::constant:
      scalars_[value] = constant(module_.getContext(), type.dtype, op.bits);
      return;
    case Opcode::program_id:
      scalars_[value] = position_[op.index];
      return;
    case Opcode::num_programs:
      scalars_[value] = grid_[op.index];
      return;
    case Opcode::load:
      scalars_[value] = load_scalar(operand(0), type, op.operands.size() > 1 ? operand(1) : nullptr,
                                    op.operands.size() > 2 ? operand(2) : nullptr);
      return;
    case Opcode::offset: {
      llvm::Type* element = memory_type(module_.getContext(), ir::Type::scalar(type.dtype));
      Value* elements = builder_.CreateSExt(operand(1), builder_.getInt64Ty());
      scalars_[value] = builder_.CreateGEP(element, operand(0), elements);
      return;
    }
    case Opcode::reshape:
    case Opcode::broadcast:
    case Opcode::permute: {
      if (kernel_.type(op.operands[0]).is_scalar()) {
        scalars_[value] = operand(0);
      } else {  // a tile of one element
        const PointRef point = keep({});
        scalars_[value] =
            evaluate(op.operands[0], reshaped(point, {}, kernel_.type(op.operands[0]).shape))
                .uniform;
      }
      return;
    }
    default:
      break;
  }
  std::vector<ir::Type> types;
  Values operands;
  for (const ValueId id : op.operands) {
    types.push_back(kernel_.type(id));
    operands.push_back(scalars_[id]);
  }
  scalars_[value] = emit_elementwise(builder_, op, types, type, operands);
}

void Lowering::emit_store(const Op& op) {
  const ir::Type& type = kernel_.type(op.operands[1]);
  if (type.is_scalar()) {
    nest({}, 1, [&](const PointRef& point) { store(op, point); });
    return;
  }
  const ir::Shape& shape = type.shape;
  nest_over(shape, op.operands, lanes_for(shape, op.operands),
            [&](const PointRef& point) { store(op, point); });
}

void Lowering::store_tile(ValueId value, const Buffer& buffer) {
  const ir::Shape& shape = buffer.type.shape;
  nest_over(shape, {value}, lanes_for(shape, {value}),
            [&](const PointRef& point) { write(buffer, point, evaluate(value, point)); });
}

Lowering::Buffer Lowering::allocate(const ir::Type& type) {
  Buffer buffer;
  buffer.type = type;
  buffer.slot = scratch_.take(static_cast<std::uint64_t>(type.count() * memory_bytes(type)));
  buffer.address =
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), scratch_base_, buffer.slot.offset);
  return buffer;
}

void Lowering::bind(ValueId value, const ir::Type& type) {
  const auto destination = destinations_.find(value);
  buffers_[value] = destination != destinations_.end() ? destination->second : allocate(type);
}

void Lowering::release(const Op& op) {
  const auto dead = plan_.dead_after.find(&op);
  if (dead == plan_.dead_after.end()) return;
  for (const ValueId value : dead->second) {
    const auto entry = buffers_.find(value);
    if (entry == buffers_.end()) continue;
    if (entry->second.slot.size != 0) scratch_.give_back(entry->second.slot);
    buffers_.erase(entry);
  }
}

}  // namespace teeny::compiler::cpu
