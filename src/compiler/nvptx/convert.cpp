#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/nvptx/emitter.hpp"

namespace teeny::compiler::nvptx {

Emitter::Registers Emitter::convert(const ir::Type& element, const Registers& from, LayoutId old,
                                    LayoutId wanted) {
  const Conversion plan = plan_conversion(layout(old), layout(wanted));
  switch (plan.kind) {
    case Conversion::Kind::registers: {
      Registers result;
      for (const std::uint32_t source : plan.source_register) result.push_back(from.at(source));
      return result;
    }
    case Conversion::Kind::shuffle:
      return convert_by_shuffle(plan, from);
    case Conversion::Kind::shared:
      break;
  }
  return convert_by_shared(element, from, layout(old), layout(wanted));
}

Emitter::Registers Emitter::convert_by_shuffle(const Conversion& plan, const Registers& from) {
  const auto spread = [this](const BitMatrix& matrix, Value* index) {
    Value* sum = builder_.getInt32(0);
    for (int bit = 0; bit < matrix.input_bits(); ++bit) {
      if (matrix.column(bit) == 0) continue;
      Value* one = builder_.CreateAnd(builder_.CreateLShr(index, static_cast<std::uint64_t>(bit)),
                                      builder_.getInt32(1));
      sum = builder_.CreateXor(sum, builder_.CreateMul(one, builder_.getInt32(matrix.column(bit))));
    }
    return sum;
  };
  Value* base = builder_.CreateXor(spread(plan.lanes, lane_), spread(plan.warps, warp_));
  std::map<std::pair<std::uint32_t, std::uint32_t>, Value*> done;
  Registers result;
  for (std::size_t reg = 0; reg < plan.source_register.size(); ++reg) {
    const auto key = std::pair(plan.source_register[reg], plan.lane_of_register[reg]);
    Value*& value = done[key];
    if (value == nullptr) {
      value = shuffle(from.at(key.first), builder_.CreateXor(base, key.second));
    }
    result.push_back(value);
  }
  return result;
}

Emitter::Registers Emitter::convert_by_shared(const ir::Type& element, const Registers& from,
                                              const LinearLayout& old, const LinearLayout& wanted) {
  const int bytes = memory_bytes(element);
  llvm::Type* stored = memory_type(module_.getContext(), element);
  const BitMatrix positions = shared_positions(old, wanted, bytes);
  begin_shared(static_cast<std::uint64_t>(bytes) << old.element_bits());
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  for (std::uint32_t reg = 0; reg < old.register_count(); ++reg) {
    const Index index = place(old, &positions, old.element(reg, 0, 0));
    builder_.CreateAlignedStore(to_memory(builder_, from.at(reg)), shared_address(0, stored, index),
                                align);
  }
  shared_written();
  Registers result;
  for (std::uint32_t reg = 0; reg < wanted.register_count(); ++reg) {
    const Index index = place(wanted, &positions, wanted.element(reg, 0, 0));
    Value* value = builder_.CreateAlignedLoad(stored, shared_address(0, stored, index), align);
    result.push_back(from_memory(builder_, element, value));
  }
  return result;
}

llvm::Value* Emitter::shuffle(Value* value, Value* lane) {
  return shuffle_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
        {builder_.getInt32(0xffffffff), word, lane, builder_.getInt32(31)});
  });
}

llvm::Value* Emitter::shuffle_butterfly(Value* value, int lane_bit) {
  return shuffle_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                    {builder_.getInt32(0xffffffff), word,
                                     builder_.getInt32(1U << lane_bit), builder_.getInt32(31)});
  });
}

llvm::Value* Emitter::shuffle_words(Value* value,
                                    const std::function<Value*(Value*)>& shuffle_word) {
  llvm::Type* type = value->getType();
  llvm::IntegerType* word = builder_.getInt32Ty();
  if (type->isPointerTy()) {
    Value* moved =
        shuffle_words(builder_.CreatePtrToInt(value, builder_.getInt64Ty()), shuffle_word);
    return builder_.CreateIntToPtr(moved, type);
  }
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  Value* integer = builder_.CreateBitCast(value, builder_.getIntNTy(bits));
  Value* moved = nullptr;
  if (bits <= 32) {
    moved = shuffle_word(builder_.CreateZExt(integer, word));
    moved = builder_.CreateTrunc(moved, builder_.getIntNTy(bits));
  } else {
    Value* low = shuffle_word(builder_.CreateTrunc(integer, word));
    Value* high = shuffle_word(builder_.CreateTrunc(builder_.CreateLShr(integer, 32), word));
    moved =
        builder_.CreateOr(builder_.CreateZExt(low, builder_.getInt64Ty()),
                          builder_.CreateShl(builder_.CreateZExt(high, builder_.getInt64Ty()), 32));
  }
  return builder_.CreateBitCast(moved, type);
}

void Emitter::begin_shared(std::uint64_t bytes) {
  shared_bytes_ = std::max(shared_bytes_, bytes);
  if (pending_.shared_reads) barrier();
}

void Emitter::shared_written() {
  barrier();
  pending_.shared_reads = true;
}

llvm::Value* Emitter::shared_address(std::uint64_t offset, llvm::Type* element, Index index) {
  Value* address = shared_;
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(index.computed);
  if (number == nullptr || !number->isZero()) {
    address = builder_.CreateInBoundsGEP(element, address, index.computed);
  }
  // What is known last, where it becomes a part of the instruction.
  const std::uint64_t bytes = module_.getDataLayout().getTypeAllocSize(element).getFixedValue();
  const std::uint64_t known = offset + index.known * bytes;
  if (known == 0) return address;
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), address, known);
}

void Emitter::barrier() {
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
  pending_ = {};
}

}  // namespace teeny::compiler::nvptx
