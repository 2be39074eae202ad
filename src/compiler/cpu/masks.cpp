#include <algorithm>

#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

// A nest whose masks are all true, which is every nest but those at an edge of the data, is run in
// a version without masks. Whether they are is found out before it, from a few scalars: masks are
// mostly comparisons of an index that runs over an interval with a bound.

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::Predicate;
using ir::ValueId;
using llvm::Value;

namespace {

Value* both(Builder& builder, Value* left, Value* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  return builder.CreateAnd(left, right);
}

Predicate mirrored(Predicate predicate) {
  switch (predicate) {
    case Predicate::gt:
      return Predicate::lt;
    case Predicate::ge:
      return Predicate::le;
    default:
      return predicate;
  }
}

}  // namespace

void Lowering::collect_masks(ValueId value, std::vector<ValueId>& masks,
                             std::vector<ValueId>& seen) const {
  if (kernel_.type(value).is_scalar() || buffers_.count(value) != 0 ||
      std::find(seen.begin(), seen.end(), value) != seen.end()) {
    return;
  }
  seen.push_back(value);
  const Op* op = plan_.definition[value];
  if (op == nullptr || !op->regions.empty() || op->code == Opcode::dot) return;
  if (op->code == Opcode::load && op->operands.size() > 1) masks.push_back(op->operands[1]);
  for (const ValueId operand : op->operands) collect_masks(operand, masks, seen);
}

Value* Lowering::all_inside(const std::vector<ValueId>& roots, ValueId mask) {
  std::vector<ValueId> masks;
  std::vector<ValueId> seen;
  if (mask != ir::no_value) masks.push_back(mask);
  for (const ValueId root : roots) collect_masks(root, masks, seen);
  std::sort(masks.begin(), masks.end());
  masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
  Value* all = nullptr;
  for (const ValueId each : masks) {
    Value* inside = always_true(each);
    if (inside == nullptr) return nullptr;
    all = both(builder_, all, inside);
  }
  return all == nullptr ? builder_.getTrue() : all;
}

Value* Lowering::always_true(ValueId mask) {
  if (kernel_.type(mask).is_scalar()) return scalars_[mask];
  const Op* op = plan_.definition[mask];
  if (op == nullptr || buffers_.count(mask) != 0) return nullptr;
  switch (op->code) {
    case Opcode::constant:
      return builder_.getInt1(op->bits != 0);
    case Opcode::broadcast:
    case Opcode::reshape:
    case Opcode::permute:
      return always_true(op->operands[0]);
    case Opcode::bit_and: {
      Value* left = always_true(op->operands[0]);
      Value* right = left != nullptr ? always_true(op->operands[1]) : nullptr;
      return right != nullptr ? builder_.CreateAnd(left, right) : nullptr;
    }
    case Opcode::compare:
      break;
    default:
      return nullptr;
  }
  const ir::Type& type = kernel_.type(op->operands[0]);
  if (type.pointer || !is_int(type.dtype)) return nullptr;
  auto left = interval(op->operands[0]);
  auto right = left ? interval(op->operands[1]) : std::nullopt;
  if (!right) return nullptr;
  if (op->predicate == Predicate::eq || op->predicate == Predicate::ne) return nullptr;
  if (mirrored(op->predicate) != op->predicate) std::swap(left, right);
  const auto at = [&](const Interval& side, std::int64_t step) {
    return builder_.CreateAdd(side.start, llvm::ConstantInt::get(side.start->getType(),
                                                                 static_cast<std::uint64_t>(step)));
  };
  Value* greatest = at(*left, left->high);
  Value* least = at(*right, right->low);
  const bool is_signed = is_signed_int(type.dtype);
  Value* holds = nullptr;
  if (mirrored(op->predicate) == Predicate::lt) {
    holds = is_signed ? builder_.CreateICmpSLT(greatest, least)
                      : builder_.CreateICmpULT(greatest, least);
  } else {
    holds = is_signed ? builder_.CreateICmpSLE(greatest, least)
                      : builder_.CreateICmpULE(greatest, least);
  }
  for (const Interval* side : {&*left, &*right}) {
    holds = both(builder_, holds, both(builder_, side->valid, unbroken(*side, type.dtype)));
  }
  return holds;
}

Value* Lowering::unbroken(const Interval& interval, DType dtype) {
  if (interval.low == interval.high) return nullptr;
  llvm::Type* type = interval.start->getType();
  const auto at = [&](std::int64_t step) {
    return builder_.CreateAdd(interval.start,
                              llvm::ConstantInt::get(type, static_cast<std::uint64_t>(step)));
  };
  return is_signed_int(dtype) ? builder_.CreateICmpSLE(at(interval.low), at(interval.high))
                              : builder_.CreateICmpULE(at(interval.low), at(interval.high));
}

std::optional<Lowering::Interval> Lowering::interval(ValueId value) {
  const ir::Type& type = kernel_.type(value);
  // Far below the range of any index type, so that distances never wrap.
  constexpr std::int64_t most = std::int64_t{1} << 30;
  if (type.pointer || !is_int(type.dtype) || bits_of(type.dtype) < 32) return std::nullopt;
  if (type.is_scalar()) return Interval{scalars_[value], 0, 0, nullptr};
  const Op* op = plan_.definition[value];
  if (op == nullptr || buffers_.count(value) != 0) return std::nullopt;
  llvm::Type* integer = register_type(module_.getContext(), type);
  switch (op->code) {
    case Opcode::constant:
      return Interval{constant_of(module_.getContext(), type.dtype, op->bits), 0, 0, nullptr};
    case Opcode::arange:
      return Interval{llvm::ConstantInt::get(integer, static_cast<std::uint64_t>(op->index)), 0,
                      type.count() - 1, nullptr};
    case Opcode::broadcast:
    case Opcode::reshape:
    case Opcode::permute:
      return interval(op->operands[0]);
    case Opcode::cast: {
      const DType from = kernel_.type(op->operands[0]).dtype;
      if (!is_int(from)) return std::nullopt;
      auto inner = interval(op->operands[0]);
      if (!inner) return std::nullopt;
      // Narrower or as wide: arithmetic modulo the new width goes on. Wider: only whole intervals.
      if (bits_of(from) < bits_of(type.dtype)) {
        inner->valid = both(builder_, inner->valid, unbroken(*inner, from));
        // The lower end is extended, and distances are measured from it.
        Value* low = builder_.CreateAdd(
            inner->start, llvm::ConstantInt::get(inner->start->getType(),
                                                 static_cast<std::uint64_t>(inner->low)));
        inner->high -= inner->low;
        inner->low = 0;
        inner->start = low;
      }
      inner->start = builder_.CreateIntCast(inner->start, integer, is_signed_int(from));
      return inner;
    }
    case Opcode::add:
    case Opcode::sub: {
      auto left = interval(op->operands[0]);
      auto right = left ? interval(op->operands[1]) : std::nullopt;
      if (!right) return std::nullopt;
      Interval result;
      result.valid = both(builder_, left->valid, right->valid);
      if (op->code == Opcode::add) {
        result.start = builder_.CreateAdd(left->start, right->start);
        result.low = left->low + right->low;
        result.high = left->high + right->high;
      } else {
        result.start = builder_.CreateSub(left->start, right->start);
        result.low = left->low - right->high;
        result.high = left->high - right->low;
      }
      if (result.low < -most || result.high > most) return std::nullopt;
      return result;
    }
    case Opcode::mul: {
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const auto factor = interval(op->operands[side]);
        const auto* constant = factor && factor->low == factor->high
                                   ? llvm::dyn_cast<llvm::ConstantInt>(factor->start)
                                   : nullptr;
        if (constant == nullptr || constant->getValue().getSignificantBits() > 24) continue;
        auto scaled = interval(op->operands[1 - side]);
        if (!scaled || scaled->high > most >> 24 || scaled->low < -(most >> 24)) continue;
        const std::int64_t by = constant->getSExtValue();
        scaled->start = builder_.CreateMul(scaled->start, factor->start);
        scaled->low *= by;
        scaled->high *= by;
        if (by < 0) std::swap(scaled->low, scaled->high);
        return scaled;
      }
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace teeny::compiler::cpu
