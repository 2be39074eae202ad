#include "compiler/passes/math_functions.hpp"
#include "compiler/passes/passes.hpp"

#include "teeny/ir/rewrite.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Functions of f32 and f64 that no backend has as an instruction of one meaning everywhere.
std::optional<Expr> expand(const Op& op, Expr x) {
  switch (op.code) {
    case Opcode::exp:
      return exp_of(x);
    case Opcode::exp2:
      return exp2_of(x);
    case Opcode::log:
      return log_of(x);
    case Opcode::log2:
      return log2_of(x);
    case Opcode::sin:
      return sin_of(x);
    case Opcode::cos:
      return cos_of(x);
    case Opcode::tanh:
      return tanh_of(x);
    case Opcode::sigmoid:
      return sigmoid_of(x);
    case Opcode::erf:
      return erf_of(x);
    case Opcode::rsqrt:
      return rsqrt_of(x);
    case Opcode::rem:
      return fmod_of(x, Expr(x.builder(), op.operands[1]));
    default:
      return std::nullopt;
  }
}

/// Casts from and to the 16-bit floats by way of f32, rounding once in all.
std::optional<Expr> expand_cast(Expr x, DType to) {
  const DType from = x.type().dtype;
  if (from == to) return std::nullopt;
  if (is_half(from) && to != DType::f32) {
    const Expr wide = x.cast(DType::f32);
    // f16 -> bf16 and back: f32 holds either exactly, one rounding is left.
    return wide.cast(to);
  }
  if (is_half(to) && from == DType::f64) return to_f32_odd(x).cast(to);
  if (is_half(to) && is_int(from)) {
    if (size_of(from) < 4) return x.cast(DType::f32).cast(to);
    return to_f32_odd(integer_to_f64_odd(x)).cast(to);
  }
  if (is_half(to) && from == DType::boolean) return x.cast(DType::f32).cast(to);
  return std::nullopt;
}

/// One operation on 16-bit floats: done in f32, and rounded where the result is one.
std::optional<Expr> in_f32(Builder& b, const Op& op, DType half) {
  Op wide = op;
  wide.results.clear();
  for (ValueId& operand : wide.operands) {
    if (is_half(b.type(operand).dtype)) operand = b.cast(operand, DType::f32);
  }
  const std::optional<Expr> expanded = expand(wide, Expr(b, wide.operands[0]));
  const Expr result = expanded ? *expanded : Expr(b, b.append(wide));
  return op.code == Opcode::compare ? result : result.cast(half);
}

}  // namespace

ir::Kernel expand_math(const ir::Kernel& kernel) {
  return ir::rewrite(
      kernel,
      [&](Builder& b, const Op& op, const Op& original) -> std::optional<std::vector<ValueId>> {
        if (!ir::is_elementwise(op.code) || op.code == Opcode::select ||
            op.code == Opcode::bitcast || op.code == Opcode::offset) {
          return std::nullopt;
        }
        const Expr x(b, op.operands[0]);
        const DType dtype = x.type().dtype;
        std::optional<Expr> result;
        if (op.code == Opcode::cast) {
          result = expand_cast(x, kernel.type(original.results[0]).dtype);
        } else if (is_half(dtype)) {
          result = in_f32(b, op, dtype);
        } else if (is_float(dtype)) {
          result = expand(op, x);
        }
        if (!result) return std::nullopt;
        return std::vector<ValueId>{result->value()};
      });
}

}  // namespace teeny::compiler
