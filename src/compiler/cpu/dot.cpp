#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::ValueId;
using llvm::Value;

/// An operand of a dot in memory, in the type that is computed in.
Lowering::Buffer Lowering::dot_operand(ValueId value, DType as, bool& temporary) {
  const ir::Type& type = kernel_.type(value);
  const auto stored = buffers_.find(value);
  temporary = stored == buffers_.end() || type.dtype != as;
  if (!temporary) return stored->second;
  const Buffer buffer = allocate(type.with_dtype(as));
  const int lanes = lanes_for(type.shape, {value});
  nest_over(type.shape, {value}, lanes, [&](const PointRef& point) {
    const Lanes element = evaluate(value, point);
    Lanes converted;
    if (element.uniform != nullptr) {
      converted.uniform = emit_cast(builder_, type.dtype, as, element.uniform);
    } else {
      converted.vector = emit_cast(builder_, type.dtype, as, element.vector);
    }
    write(buffer, point, converted);
  });
  return buffer;
}

void Lowering::emit_dot(const Op& op) {
  const ValueId result = op.results.front();
  const ir::Type& type = kernel_.type(result);
  const std::int64_t rows = type.shape[0];
  const std::int64_t columns = type.shape[1];
  const std::int64_t depth = kernel_.type(op.operands[0]).shape[1];
  bool left_is_temporary = false;
  bool right_is_temporary = false;
  const Buffer left = dot_operand(op.operands[0], type.dtype, left_is_temporary);
  const Buffer right = dot_operand(op.operands[1], type.dtype, right_is_temporary);
  bind(result, type);
  const Buffer product = buffers_.extract(result).mapped();

  // A block of the product stays in registers while the loop runs along the depth: an outer product
  // of `high` elements of the left and `wide` vectors of the right at each step.
  const int lanes =
      static_cast<int>(std::min<std::int64_t>(columns, traits_.vector_bytes / size_of(type.dtype)));
  const bool many = traits_.vector_registers >= 32;
  const std::int64_t wide = std::min<std::int64_t>(columns / lanes, 2);
  const std::int64_t high = std::min<std::int64_t>(rows, many ? 8 : 4);

  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* element = memory_type(context, type);
  llvm::Type* vector = with_lanes(element, lanes);
  const llvm::Align element_align(static_cast<std::uint64_t>(size_of(type.dtype)));
  const llvm::Align vector_align(std::min<std::uint64_t>(
      Scratch::alignment, element_align.value() * static_cast<unsigned>(lanes)));
  const auto at = [&](const Buffer& buffer, Value* linear) {
    return builder_.CreateInBoundsGEP(element, buffer.address, linear);
  };
  const auto block = [&](Value* i, Value* j) {
    const auto memo = std::exchange(memo_, {});
    const auto mapped = std::exchange(mapped_, {});
    std::vector<PointRef> points;
    Values initial;
    for (std::int64_t r = 0; r < high; ++r) {
      for (std::int64_t c = 0; c < wide; ++c) {
        Point point;
        point.lanes = lanes;
        point.base = {add_index(i, index(r)), add_index(j, index(c * lanes))};
        point.step.assign(2, std::vector<std::int64_t>(static_cast<std::size_t>(lanes), 0));
        for (int lane = 0; lane < lanes; ++lane) {
          point.step[1][static_cast<std::size_t>(lane)] = lane;
        }
        points.push_back(keep(std::move(point)));
        initial.push_back(as_vector(evaluate(op.operands[2], points.back()), type, lanes));
      }
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(context, "", function_);
    auto* after = llvm::BasicBlock::Create(context, "", function_);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* k = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    k->addIncoming(index(0), before);
    std::vector<llvm::PHINode*> sums;
    for (Value* value : initial) {
      sums.push_back(builder_.CreatePHI(vector, 2));
      sums.back()->addIncoming(value, before);
    }
    Values rights;
    for (std::int64_t c = 0; c < wide; ++c) {
      Value* linear = add_index(scale_index(k, columns), add_index(j, index(c * lanes)));
      rights.push_back(builder_.CreateAlignedLoad(vector, at(right, linear), vector_align));
    }
    Values next;
    for (std::int64_t r = 0; r < high; ++r) {
      Value* linear = add_index(scale_index(add_index(i, index(r)), depth), k);
      Value* one = builder_.CreateAlignedLoad(element, at(left, linear), element_align);
      if (lanes > 1) one = builder_.CreateVectorSplat(static_cast<unsigned>(lanes), one);
      for (std::int64_t c = 0; c < wide; ++c) {
        Value* sum = sums[static_cast<std::size_t>(r * wide + c)];
        Value* other = rights[static_cast<std::size_t>(c)];
        next.push_back(
            is_float(type.dtype)
                ? builder_.CreateIntrinsic(vector, llvm::Intrinsic::fma, {one, other, sum})
                : builder_.CreateAdd(sum, builder_.CreateMul(one, other)));
      }
    }
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s]->addIncoming(next[s], head);
    Value* step = builder_.CreateNUWAdd(k, index(1));
    k->addIncoming(step, head);
    builder_.CreateCondBr(builder_.CreateICmpULT(step, index(depth)), head, after);
    builder_.SetInsertPoint(after);
    for (std::size_t s = 0; s < sums.size(); ++s) {
      Lanes sum;
      (lanes == 1 ? sum.uniform : sum.vector) = next[s];
      write(product, points[s], sum);
    }
    memo_ = memo;
    mapped_ = mapped;
  };
  loop(rows, high, [&](Value* i) { loop(columns, wide * lanes, [&](Value* j) { block(i, j); }); });
  buffers_[result] = product;
  if (left_is_temporary) scratch_.give_back(left.slot);
  if (right_is_temporary) scratch_.give_back(right.slot);
}

}  // namespace teeny::compiler::cpu
