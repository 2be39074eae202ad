#include <algorithm>
#include <numeric>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::ValueId;
using llvm::Value;

bool Lowering::is_contiguous(const Lanes& pointer) {
  if (pointer.start == nullptr) return false;
  for (std::size_t lane = 0; lane < pointer.steps.size(); ++lane) {
    if (pointer.steps[lane] != pointer.steps[0] + static_cast<std::int64_t>(lane)) return false;
  }
  return true;
}

Value* Lowering::load_scalar(Value* pointer, const ir::Type& type, Value* mask, Value* other) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* memory = memory_type(context, type);
  const auto get = [&] {
    return from_memory(
        builder_, type,
        builder_.CreateAlignedLoad(memory, pointer,
                                   llvm::Align(static_cast<std::uint64_t>(memory_size(type)))));
  };
  if (mask == nullptr) return get();
  if (other == nullptr) other = llvm::Constant::getNullValue(register_type(context, type));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* access = llvm::BasicBlock::Create(context, "", function_);
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(mask, access, after);
  builder_.SetInsertPoint(access);
  Value* loaded = get();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* phi = builder_.CreatePHI(loaded->getType(), 2);
  phi->addIncoming(loaded, access);
  phi->addIncoming(other, before);
  return phi;
}

Lanes Lowering::load(const Op& op, const PointRef& point) {
  const int lanes = point->lanes;
  const ir::Type& type = kernel_.type(op.results.front());
  const ir::Type& pointers = kernel_.type(op.operands[0]);
  const llvm::Align align(static_cast<std::uint64_t>(memory_size(type)));
  const Lanes pointer = evaluate(op.operands[0], point);
  std::optional<Lanes> mask;
  std::optional<Lanes> other;
  if (op.operands.size() > 1 && !inside_) {
    mask = evaluate(op.operands[1], point);
    if (op.operands.size() > 2) other = evaluate(op.operands[2], point);
  }
  Lanes result;
  if (pointer.uniform != nullptr && (!mask || mask->uniform != nullptr) &&
      (!other || other->uniform != nullptr)) {
    result.uniform = load_scalar(pointer.uniform, type, mask ? mask->uniform : nullptr,
                                 other ? other->uniform : nullptr);
    return result;
  }
  llvm::Type* memory = memory_type(module_.getContext(), type);
  llvm::Type* vector = with_lanes(memory, lanes);
  Value* enabled = nullptr;
  Value* otherwise = llvm::Constant::getNullValue(vector);
  if (mask) enabled = as_vector(*mask, kernel_.type(op.operands[1]), lanes);
  if (other) otherwise = to_memory(builder_, type, as_vector(*other, type, lanes));
  Value* loaded = nullptr;
  if (is_contiguous(pointer)) {
    Value* start = builder_.CreateAdd(pointer.start, index(pointer.steps[0]));
    Value* address = builder_.CreateGEP(memory, pointer.pointer, start);
    loaded = enabled == nullptr
                 ? static_cast<Value*>(builder_.CreateAlignedLoad(vector, address, align))
                 : builder_.CreateMaskedLoad(vector, address, align, enabled, otherwise);
  } else {
    if (enabled == nullptr) {
      enabled = llvm::Constant::getAllOnesValue(with_lanes(builder_.getInt1Ty(), lanes));
    }
    loaded = builder_.CreateMaskedGather(vector, pointer_vector(pointer, pointers, lanes), align,
                                         enabled, otherwise);
  }
  result.vector = from_memory(builder_, type, loaded);
  return result;
}

void Lowering::store(const Op& op, const PointRef& point) {
  const int lanes = point->lanes;
  const ir::Type& type = kernel_.type(op.operands[1]);
  const llvm::Align align(static_cast<std::uint64_t>(memory_size(type)));
  // All loads of this element come before its store.
  const Lanes value = evaluate(op.operands[1], point);
  const Lanes pointer = evaluate(op.operands[0], point);
  std::optional<Lanes> mask;
  if (op.operands.size() > 2 && !inside_) mask = evaluate(op.operands[2], point);
  llvm::LLVMContext& context = module_.getContext();
  if (lanes == 1) {
    llvm::BasicBlock* after = nullptr;
    if (mask) {
      auto* access = llvm::BasicBlock::Create(context, "", function_);
      after = llvm::BasicBlock::Create(context, "", function_);
      builder_.CreateCondBr(mask->uniform, access, after);
      builder_.SetInsertPoint(access);
    }
    builder_.CreateAlignedStore(to_memory(builder_, type, value.uniform), pointer.uniform, align);
    if (mask) {
      builder_.CreateBr(after);
      builder_.SetInsertPoint(after);
    }
    return;
  }
  Value* elements = to_memory(builder_, type, as_vector(value, type, lanes));
  Value* enabled = mask ? as_vector(*mask, kernel_.type(op.operands[2]), lanes)
                        : llvm::Constant::getAllOnesValue(with_lanes(builder_.getInt1Ty(), lanes));
  if (!is_contiguous(pointer)) {
    builder_.CreateMaskedScatter(
        elements, pointer_vector(pointer, kernel_.type(op.operands[0]), lanes), align, enabled);
    return;
  }
  Value* start = builder_.CreateAdd(pointer.start, index(pointer.steps[0]));
  Value* address = builder_.CreateGEP(memory_type(context, type), pointer.pointer, start);
  if (mask) {
    builder_.CreateMaskedStore(elements, address, align, enabled);
  } else {
    builder_.CreateAlignedStore(elements, address, align);
  }
}

Value* Lowering::buffer_address(const Buffer& buffer, const PointRef& point,
                                std::vector<std::int64_t>& steps) {
  Value* linear = index(0);
  steps.assign(static_cast<std::size_t>(point->lanes), 0);
  std::int64_t stride = 1;
  for (std::size_t d = buffer.type.shape.size(); d-- > 0;) {
    linear = add_index(linear, scale_index(point->base[d], stride));
    for (std::size_t lane = 0; lane < steps.size(); ++lane) {
      steps[lane] += point->step[d][lane] * stride;
    }
    stride *= buffer.type.shape[d];
  }
  return builder_.CreateInBoundsGEP(memory_type(module_.getContext(), buffer.type), buffer.address,
                                    linear);
}

Lanes Lowering::read(const Buffer& buffer, const PointRef& point) {
  std::vector<std::int64_t> steps;
  Value* address = buffer_address(buffer, point, steps);
  llvm::Type* memory = memory_type(module_.getContext(), buffer.type);
  const auto size = static_cast<std::uint64_t>(memory_size(buffer.type));
  const auto element = [&](std::int64_t step) {
    Value* place = builder_.CreateInBoundsGEP(memory, address, index(step));
    return builder_.CreateAlignedLoad(memory, place, llvm::Align(size));
  };
  Lanes result;
  if (std::all_of(steps.begin(), steps.end(), [&](std::int64_t s) { return s == steps[0]; })) {
    result.uniform = from_memory(builder_, buffer.type, element(steps[0]));
    return result;
  }
  std::vector<std::int64_t> adjacent(steps.size());
  std::iota(adjacent.begin(), adjacent.end(), 0);
  Value* loaded = nullptr;
  llvm::Type* vector = with_lanes(memory, point->lanes);
  if (steps == adjacent) {
    const std::uint64_t align = std::min(Scratch::alignment, size * steps.size());
    loaded = builder_.CreateAlignedLoad(vector, address, llvm::Align(align));
  } else {
    loaded = llvm::PoisonValue::get(vector);
    for (std::size_t lane = 0; lane < steps.size(); ++lane) {
      loaded = builder_.CreateInsertElement(loaded, element(steps[lane]), lane);
    }
  }
  result.vector = from_memory(builder_, buffer.type, loaded);
  return result;
}

void Lowering::write(const Buffer& buffer, const PointRef& point, const Lanes& value) {
  std::vector<std::int64_t> steps;
  Value* address = buffer_address(buffer, point, steps);
  const auto size = static_cast<std::uint64_t>(memory_size(buffer.type));
  const std::uint64_t align = std::min(Scratch::alignment, size * steps.size());
  Value* elements = as_vector(value, buffer.type, point->lanes);
  builder_.CreateAlignedStore(to_memory(builder_, buffer.type, elements), address,
                              llvm::Align(align));
}

}  // namespace teeny::compiler::cpu
