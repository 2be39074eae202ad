#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::ValueId;
using llvm::Value;

void Lowering::forward_yields(const Op& yield, const std::vector<Buffer>& buffers) {
  for (std::size_t k = 0; k < yield.operands.size(); ++k) {
    const ValueId value = yield.operands[k];
    if (kernel_.type(value).is_scalar() || !plan_.only_yielded[value]) continue;
    destinations_[value] = buffers[k];
    destinations_[value].slot = {};
  }
}

void Lowering::emit_region(const ir::Block& region, const std::vector<Buffer>& buffers,
                           Values& scalars) {
  const Op& yield = region.ops.back();
  forward_yields(yield, buffers);
  for (const Op& op : region.ops) {
    if (&op == &yield) break;
    emit_op(op);
    release(op);
  }
  for (std::size_t k = 0; k < yield.operands.size(); ++k) {
    const ValueId value = yield.operands[k];
    if (kernel_.type(value).is_scalar()) {
      scalars.push_back(scalars_[value]);
      continue;
    }
    scalars.push_back(nullptr);
    const auto made = buffers_.find(value);
    if (made != buffers_.end() && made->second.address == buffers[k].address) continue;
    store_tile(value, buffers[k]);
  }
  release(yield);
  for (const ValueId value : yield.operands) destinations_.erase(value);
}

void Lowering::emit_if(const Op& op) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* arms[2] = {};
  for (auto& arm : arms) arm = llvm::BasicBlock::Create(context, "", function_);
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  std::vector<Buffer> buffers(op.results.size());
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    const ValueId value = op.results[k];
    if (kernel_.type(value).is_scalar()) continue;
    bind(value, kernel_.type(value));
    buffers[k] = buffers_[value];
  }
  builder_.CreateCondBr(scalars_[op.operands[0]], arms[0], arms[1]);
  Values yields[2];
  for (std::size_t a = 0; a < 2; ++a) {
    builder_.SetInsertPoint(arms[a]);
    emit_region(op.regions[a], buffers, yields[a]);
    arms[a] = builder_.GetInsertBlock();
    builder_.CreateBr(after);
  }
  builder_.SetInsertPoint(after);
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    if (yields[0][k] == nullptr) continue;
    llvm::PHINode* phi = builder_.CreatePHI(yields[0][k]->getType(), 2);
    for (std::size_t a = 0; a < 2; ++a) phi->addIncoming(yields[a][k], arms[a]);
    scalars_[op.results[k]] = phi;
  }
}

// A tile that a fold carries has two places, which change roles at each step: the body reads the
// one and makes the next value in the other, so that it may read any element of the old one at any
// time.
void Lowering::emit_fold(const Op& op) {
  llvm::LLVMContext& context = module_.getContext();
  const ir::Block& region = op.regions.front();
  const std::size_t count = op.results.size();
  const auto init = [&](std::size_t k) { return op.operands[3 + k]; };
  const auto argument = [&](std::size_t k) { return region.arguments[1 + k]; };

  std::vector<Buffer> first(count);
  std::vector<Buffer> second(count);
  for (std::size_t k = 0; k < count; ++k) {
    const ir::Type& type = kernel_.type(init(k));
    if (type.is_scalar()) continue;
    // Both places in one slot: they live and die together.
    const auto bytes = static_cast<std::uint64_t>(type.count() * memory_bytes(type));
    const std::uint64_t apart =
        (bytes + Scratch::alignment - 1) / Scratch::alignment * Scratch::alignment;
    first[k].type = second[k].type = type;
    first[k].slot = scratch_.take(2 * apart);
    const auto place = [&](std::uint64_t offset) {
      return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), scratch_base_, offset);
    };
    first[k].address = place(first[k].slot.offset);
    second[k].address = place(first[k].slot.offset + apart);
    store_tile(init(k), first[k]);
  }
  Value* low = scalars_[op.operands[0]];
  Value* high = scalars_[op.operands[1]];
  Value* step = scalars_[op.operands[2]];
  const bool is_signed = is_signed_int(kernel_.type(op.operands[0]).dtype);
  Value* any = is_signed ? builder_.CreateICmpSLT(low, high) : builder_.CreateICmpULT(low, high);

  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "", function_);
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(any, head, after);
  builder_.SetInsertPoint(head);
  llvm::PHINode* i = builder_.CreatePHI(low->getType(), 2);
  i->addIncoming(low, before);
  scalars_[region.arguments[0]] = i;
  std::vector<llvm::PHINode*> carried(count);  // a scalar, or the place to read
  std::vector<llvm::PHINode*> other(count);    // the place to write
  std::vector<Buffer> targets(count);
  for (std::size_t k = 0; k < count; ++k) {
    const ir::Type& type = kernel_.type(init(k));
    if (type.is_scalar()) {
      carried[k] = builder_.CreatePHI(register_type(context, type), 2);
      carried[k]->addIncoming(scalars_[init(k)], before);
      scalars_[argument(k)] = carried[k];
      continue;
    }
    carried[k] = builder_.CreatePHI(builder_.getPtrTy(), 2);
    carried[k]->addIncoming(first[k].address, before);
    other[k] = builder_.CreatePHI(builder_.getPtrTy(), 2);
    other[k]->addIncoming(second[k].address, before);
    buffers_[argument(k)] = {carried[k], type, {}};
    targets[k] = {other[k], type, {}};
  }
  Values next;
  emit_region(region, targets, next);
  // The last index is found without computing one past it, which might wrap around.
  Value* more = builder_.CreateICmpUGT(builder_.CreateSub(high, i), step);
  Value* following = builder_.CreateAdd(i, step);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  builder_.CreateCondBr(more, head, after);
  i->addIncoming(following, latch);
  builder_.SetInsertPoint(after);
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_tile = other[k] != nullptr;
    Value* made = is_tile ? other[k] : next[k];
    Value* initially = is_tile ? first[k].address : scalars_[init(k)];
    carried[k]->addIncoming(made, latch);
    if (is_tile) other[k]->addIncoming(carried[k], latch);
    llvm::PHINode* result = builder_.CreatePHI(made->getType(), 2);
    result->addIncoming(initially, before);
    result->addIncoming(made, latch);
    if (is_tile) {
      buffers_[op.results[k]] = {result, first[k].type, first[k].slot};
      buffers_.erase(argument(k));
    } else {
      scalars_[op.results[k]] = result;
    }
  }
}

}  // namespace teeny::compiler::cpu
