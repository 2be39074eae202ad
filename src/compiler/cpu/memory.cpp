#include <algorithm>
#include <numeric>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::ValueId;
using llvm::Value;

namespace {

// Loading what lies between the elements too, and picking them out, is worth it up to this
// distance.
constexpr std::int64_t farthest = 4;

}  // namespace

/// The distance of adjacent lanes in elements, where it is known and the same for all; else 0.
std::int64_t Lowering::stride_of(const Lanes& pointer) {
  if (pointer.start == nullptr || pointer.steps.size() < 2) return 0;
  const std::int64_t stride = pointer.steps[1] - pointer.steps[0];
  for (std::size_t lane = 0; lane < pointer.steps.size(); ++lane) {
    const std::int64_t expected = pointer.steps[0] + stride * static_cast<std::int64_t>(lane);
    if (pointer.steps[lane] != expected) return 0;
  }
  return stride;
}

Value* Lowering::load_scalar(Value* pointer, const ir::Type& type, Value* mask, Value* other) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* memory = memory_type(context, type);
  const auto get = [&] {
    return from_memory(
        builder_, type,
        builder_.CreateAlignedLoad(memory, pointer,
                                   llvm::Align(static_cast<std::uint64_t>(memory_bytes(type)))));
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
  const llvm::Align align(static_cast<std::uint64_t>(memory_bytes(type)));
  const Lanes pointer = evaluate(op.operands[0], point);
  std::optional<Lanes> mask;
  std::optional<Lanes> other;
  if (op.operands.size() > 1 && !is_settled(op.operands[1])) {
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
  if (other) otherwise = to_memory(builder_, as_vector(*other, type, lanes));
  Value* loaded = nullptr;
  const std::int64_t stride = stride_of(pointer);
  const auto first = [&] {
    Value* start = builder_.CreateAdd(pointer.start, index(pointer.steps[0]));
    return builder_.CreateGEP(memory, pointer.pointer, start);
  };
  if (stride == 1 && enabled == nullptr) {
    loaded = builder_.CreateAlignedLoad(vector, first(), align);
  } else if (stride == 1) {
    loaded = builder_.CreateMaskedLoad(vector, first(), align, enabled, otherwise);
  } else if (stride > 1 && stride <= farthest && enabled == nullptr) {
    // Everything from the first element to the last, and nothing beyond.
    llvm::Type* span = with_lanes(memory, static_cast<int>((lanes - 1) * stride + 1));
    std::vector<int> picks(static_cast<std::size_t>(lanes));
    for (int lane = 0; lane < lanes; ++lane) {
      picks[static_cast<std::size_t>(lane)] = lane * static_cast<int>(stride);
    }
    loaded = builder_.CreateShuffleVector(builder_.CreateAlignedLoad(span, first(), align), picks);
  } else if (pointer.start != nullptr && enabled == nullptr) {
    loaded = llvm::PoisonValue::get(vector);
    Value* address = first();
    for (std::size_t lane = 0; lane < pointer.steps.size(); ++lane) {
      Value* place =
          builder_.CreateGEP(memory, address, index(pointer.steps[lane] - pointer.steps[0]));
      loaded = builder_.CreateInsertElement(loaded,
                                            builder_.CreateAlignedLoad(memory, place, align), lane);
    }
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
  if (op.operands.size() < 3 || is_settled(op.operands[2])) {
    store_elements(op, point, nullptr);
    return;
  }
  // Where no lane is stored, nothing need be computed either.
  const Lanes mask = evaluate(op.operands[2], point);
  Value* any = mask.uniform != nullptr ? mask.uniform : builder_.CreateOrReduce(mask.vector);
  llvm::LLVMContext& context = module_.getContext();
  auto* access = llvm::BasicBlock::Create(context, "", function_);
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(any, access, after);
  builder_.SetInsertPoint(access);
  const auto memo = memo_;
  const auto mapped = mapped_;
  store_elements(op, point, mask.uniform != nullptr ? nullptr : mask.vector);
  memo_ = memo;
  mapped_ = mapped;
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void Lowering::store_elements(const Op& op, const PointRef& point, Value* enabled) {
  const int lanes = point->lanes;
  const ir::Type& type = kernel_.type(op.operands[1]);
  const llvm::Align align(static_cast<std::uint64_t>(memory_bytes(type)));
  // All loads of these elements come before their store.
  const Lanes value = evaluate(op.operands[1], point);
  const Lanes pointer = evaluate(op.operands[0], point);
  Value* elements = to_memory(builder_, as_vector(value, type, lanes));
  if (lanes == 1) {
    builder_.CreateAlignedStore(elements, pointer.uniform, align);
    return;
  }
  llvm::Type* memory = memory_type(module_.getContext(), type);
  Value* first = nullptr;
  if (pointer.start != nullptr) {
    Value* start = builder_.CreateAdd(pointer.start, index(pointer.steps[0]));
    first = builder_.CreateGEP(memory, pointer.pointer, start);
  }
  if (stride_of(pointer) == 1) {
    if (enabled != nullptr) {
      builder_.CreateMaskedStore(elements, first, align, enabled);
    } else {
      builder_.CreateAlignedStore(elements, first, align);
    }
    return;
  }
  if (first != nullptr && enabled == nullptr) {
    for (std::size_t lane = 0; lane < pointer.steps.size(); ++lane) {
      Value* place =
          builder_.CreateGEP(memory, first, index(pointer.steps[lane] - pointer.steps[0]));
      builder_.CreateAlignedStore(builder_.CreateExtractElement(elements, lane), place, align);
    }
    return;
  }
  if (enabled == nullptr) {
    enabled = llvm::Constant::getAllOnesValue(with_lanes(builder_.getInt1Ty(), lanes));
  }
  builder_.CreateMaskedScatter(
      elements, pointer_vector(pointer, kernel_.type(op.operands[0]), lanes), align, enabled);
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
  const auto size = static_cast<std::uint64_t>(memory_bytes(buffer.type));
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
  const auto size = static_cast<std::uint64_t>(memory_bytes(buffer.type));
  const std::uint64_t align = std::min(Scratch::alignment, size * steps.size());
  Value* elements = as_vector(value, buffer.type, point->lanes);
  builder_.CreateAlignedStore(to_memory(builder_, elements), address, llvm::Align(align));
}

}  // namespace teeny::compiler::cpu
