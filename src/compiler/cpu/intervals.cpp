#include <algorithm>

#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::Predicate;
using ir::ValueId;
using llvm::Value;

namespace {

// Far below the range of any index type, so that distances never wrap.
constexpr std::int64_t longest = std::int64_t{1} << 30;

Value* both(Builder& builder, Value* left, Value* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  return builder.CreateAnd(left, right);
}

bool is_shape_op(Opcode code) {
  return code == Opcode::broadcast || code == Opcode::reshape || code == Opcode::permute;
}

}  // namespace

/// start + step, in the arithmetic of the type.
Value* Lowering::bound(const Interval& interval, std::int64_t step) {
  llvm::Type* type = interval.start->getType();
  return builder_.CreateAdd(interval.start,
                            llvm::ConstantInt::get(type, static_cast<std::uint64_t>(step), true));
}

Value* Lowering::at_most(Value* left, Value* right, DType dtype, bool strictly) {
  if (strictly) {
    return is_signed_int(dtype) ? builder_.CreateICmpSLT(left, right)
                                : builder_.CreateICmpULT(left, right);
  }
  return is_signed_int(dtype) ? builder_.CreateICmpSLE(left, right)
                              : builder_.CreateICmpULE(left, right);
}

/// Whether the interval does not wrap around the ends of its type; null: certainly not.
Value* Lowering::unbroken(const Interval& interval, DType dtype) {
  if (interval.low == interval.high) return nullptr;
  return at_most(bound(interval, interval.low), bound(interval, interval.high), dtype, false);
}

PointRef Lowering::operand_point(const Op& op, const PointRef& point) {
  if (point == nullptr || kernel_.type(op.operands[0]).is_scalar()) return point;
  return map_point(op, point);
}

/// Whether a mask is true in all of a tile or at all lanes of a point: an i1, or null when nobody
/// knows.
Value* Lowering::always_true(ValueId mask, const PointRef& point) {
  if (is_settled(mask)) return builder_.getTrue();
  if (kernel_.type(mask).is_scalar()) return scalars_[mask];
  const Op* op = plan_.definition[mask];
  if (op == nullptr || buffers_.count(mask) != 0) return nullptr;
  if (is_shape_op(op->code)) return always_true(op->operands[0], operand_point(*op, point));
  if (op->code == Opcode::constant) return builder_.getInt1(op->bits != 0);
  if (op->code == Opcode::bit_and) {
    Value* left = always_true(op->operands[0], point);
    Value* right = left != nullptr ? always_true(op->operands[1], point) : nullptr;
    return right != nullptr ? builder_.CreateAnd(left, right) : nullptr;
  }
  if (op->code != Opcode::compare || op->predicate == Predicate::eq ||
      op->predicate == Predicate::ne) {
    return nullptr;
  }
  auto left = interval(op->operands[0], point);
  auto right = left ? interval(op->operands[1], point) : std::nullopt;
  if (!right) return nullptr;
  const bool swapped = op->predicate == Predicate::gt || op->predicate == Predicate::ge;
  if (swapped) std::swap(left, right);
  const bool strictly = op->predicate == Predicate::lt || op->predicate == Predicate::gt;
  const DType dtype = kernel_.type(op->operands[0]).dtype;
  Value* holds = at_most(bound(*left, left->high), bound(*right, right->low), dtype, strictly);
  for (const Interval* side : {&*left, &*right}) {
    holds = both(builder_, holds, both(builder_, side->valid, unbroken(*side, dtype)));
  }
  return holds;
}

ValueId Lowering::clamped_operand(const Op& op) const {
  const auto is_bound = [&](ValueId value) {
    while (!kernel_.type(value).is_scalar()) {
      const Op* definition = plan_.definition[value];
      if (definition == nullptr || buffers_.count(value) != 0) return false;
      if (definition->code == Opcode::constant) return true;
      if (!is_shape_op(definition->code)) return false;
      value = definition->operands[0];
    }
    return true;
  };
  return is_bound(op.operands[0]) ? op.operands[1] : op.operands[0];
}

/// The condition for a minimum or maximum with a bound to be its other operand (null: always);
/// nullopt when nobody knows, or when all lanes are the same anyway.
std::optional<Value*> Lowering::never_clamps(ValueId clamp, const PointRef& point) {
  const Op* op = plan_.definition[clamp];
  const auto result = interval_of_clamp(*op, point);
  if (!result || result->low == result->high) return std::nullopt;
  return result->valid;
}

std::optional<Lowering::Interval> Lowering::interval_of_clamp(const Op& op, const PointRef& point) {
  const ValueId inner = clamped_operand(op);
  const ValueId limit = inner == op.operands[0] ? op.operands[1] : op.operands[0];
  const DType dtype = kernel_.type(inner).dtype;
  auto index = interval(inner, point);
  const auto edge = index ? interval(limit, point) : std::nullopt;
  if (!edge || edge->low != edge->high) return std::nullopt;
  Value* inside = op.code == Opcode::maximum
                      ? at_most(bound(*edge, edge->low), bound(*index, index->low), dtype, false)
                      : at_most(bound(*index, index->high), bound(*edge, edge->low), dtype, false);
  index->valid = both(builder_, index->valid, both(builder_, edge->valid, inside));
  index->valid = both(builder_, index->valid, unbroken(*index, dtype));
  return index;
}

std::optional<Lowering::Interval> Lowering::interval(ValueId value, const PointRef& point) {
  const ir::Type& type = kernel_.type(value);
  if (type.pointer || !is_int(type.dtype) || bits_of(type.dtype) < 32) return std::nullopt;
  if (type.is_scalar()) return Interval{scalar(value).uniform, 0, 0, nullptr};
  const Op* op = plan_.definition[value];
  if (op == nullptr || buffers_.count(value) != 0) return std::nullopt;
  llvm::Type* integer = register_type(module_.getContext(), type);
  if (is_shape_op(op->code)) return interval(op->operands[0], operand_point(*op, point));
  switch (op->code) {
    case Opcode::constant:
      return Interval{constant(module_.getContext(), type.dtype, op->bits), 0, 0, nullptr};
    case Opcode::arange: {
      if (point == nullptr) {
        return Interval{llvm::ConstantInt::get(integer, static_cast<std::uint64_t>(op->index)), 0,
                        type.count() - 1, nullptr};
      }
      const auto [low, high] = std::minmax_element(point->step[0].begin(), point->step[0].end());
      Value* start = builder_.CreateAdd(point->base[0], index(op->index));
      return Interval{builder_.CreateTrunc(start, integer), *low, *high, nullptr};
    }
    case Opcode::cast:
      return interval_of_cast(*op, point);
    case Opcode::minimum:
    case Opcode::maximum:
      return interval_of_clamp(*op, point);
    case Opcode::mul:
      return interval_of_product(*op, point);
    case Opcode::add:
    case Opcode::sub: {
      const auto left = interval(op->operands[0], point);
      const auto right = left ? interval(op->operands[1], point) : std::nullopt;
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
      if (result.low < -longest || result.high > longest) return std::nullopt;
      return result;
    }
    default:
      return std::nullopt;
  }
}

std::optional<Lowering::Interval> Lowering::interval_of_cast(const Op& op, const PointRef& point) {
  const DType from = kernel_.type(op.operands[0]).dtype;
  const ir::Type& type = kernel_.type(op.results[0]);
  auto inner = is_int(from) ? interval(op.operands[0], point) : std::nullopt;
  if (!inner) return std::nullopt;
  if (bits_of(from) < bits_of(type.dtype)) {
    // The lower end is extended, and distances are measured from it; only a whole interval may.
    // Narrower, or as wide, arithmetic just goes on modulo the new width.
    inner->valid = both(builder_, inner->valid, unbroken(*inner, from));
    inner->start = bound(*inner, inner->low);
    inner->high -= inner->low;
    inner->low = 0;
  }
  inner->start = builder_.CreateIntCast(inner->start, register_type(module_.getContext(), type),
                                        is_signed_int(from));
  return inner;
}

std::optional<Lowering::Interval> Lowering::interval_of_product(const Op& op,
                                                                const PointRef& point) {
  auto left = interval(op.operands[0], point);
  auto right = left ? interval(op.operands[1], point) : std::nullopt;
  if (!right) return std::nullopt;
  if (left->low == left->high) std::swap(left, right);
  if (right->low != right->high) return std::nullopt;
  Interval result;
  result.valid = both(builder_, left->valid, right->valid);
  if (left->low == left->high) {  // both the same at all lanes
    result.start = builder_.CreateMul(bound(*left, left->low), bound(*right, right->low));
    return result;
  }
  const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(bound(*right, right->low));
  if (factor == nullptr || factor->getValue().getSignificantBits() > 24 ||
      left->high > longest >> 24 || left->low < -(longest >> 24)) {
    return std::nullopt;
  }
  const std::int64_t by = factor->getSExtValue();
  result.start = builder_.CreateMul(left->start, bound(*right, right->low));
  result.low = std::min(left->low * by, left->high * by);
  result.high = std::max(left->low * by, left->high * by);
  return result;
}

}  // namespace teeny::compiler::cpu
