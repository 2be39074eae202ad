#pragma once

#include <initializer_list>

#include "teeny/ir/builder.hpp"

namespace teeny::compiler {

/// A value under construction, so that formulas in passes read as formulas.
class Expr {
 public:
  Expr(ir::Builder& builder, ir::ValueId value) : builder_(&builder), value_(value) {}

  [[nodiscard]] ir::ValueId value() const { return value_; }
  [[nodiscard]] ir::Builder& builder() const { return *builder_; }
  [[nodiscard]] const ir::Type& type() const { return builder_->type(value_); }

  /// A constant of this value's shape and of `dtype` (its own when not given).
  [[nodiscard]] Expr number(double number) const {
    return bits(teeny::encode(type().dtype, number));
  }
  [[nodiscard]] Expr integer(DType dtype, i64 number) const {
    return {*builder_, builder_->constant(type().with_dtype(dtype), teeny::encode(dtype, number))};
  }
  /// The same by its bits, in this value's dtype.
  [[nodiscard]] Expr bits(u64 bits) const { return {*builder_, builder_->constant(type(), bits)}; }

  [[nodiscard]] Expr cast(DType to) const { return {*builder_, builder_->cast(value_, to)}; }
  [[nodiscard]] Expr bitcast(DType to) const { return {*builder_, builder_->bitcast(value_, to)}; }
  [[nodiscard]] Expr unary(ir::Opcode code) const {
    return {*builder_, builder_->unary(code, value_)};
  }
  [[nodiscard]] Expr binary(ir::Opcode code, Expr other) const {
    return {*builder_, builder_->binary(code, value_, other.value_)};
  }
  [[nodiscard]] Expr compare(ir::Predicate predicate, Expr other) const {
    return {*builder_, builder_->compare(predicate, value_, other.value_)};
  }
  /// For a bool: where.
  [[nodiscard]] Expr choose(Expr yes, Expr no) const {
    return {*builder_, builder_->select(value_, yes.value_, no.value_)};
  }

  friend Expr operator+(Expr a, Expr b) { return a.binary(ir::Opcode::add, b); }
  friend Expr operator-(Expr a, Expr b) { return a.binary(ir::Opcode::sub, b); }
  friend Expr operator*(Expr a, Expr b) { return a.binary(ir::Opcode::mul, b); }
  friend Expr operator/(Expr a, Expr b) { return a.binary(ir::Opcode::div, b); }
  friend Expr operator%(Expr a, Expr b) { return a.binary(ir::Opcode::rem, b); }
  friend Expr operator&(Expr a, Expr b) { return a.binary(ir::Opcode::bit_and, b); }
  friend Expr operator|(Expr a, Expr b) { return a.binary(ir::Opcode::bit_or, b); }
  friend Expr operator^(Expr a, Expr b) { return a.binary(ir::Opcode::bit_xor, b); }
  friend Expr operator<<(Expr a, Expr b) { return a.binary(ir::Opcode::shl, b); }
  friend Expr operator>>(Expr a, Expr b) { return a.binary(ir::Opcode::shr, b); }
  friend Expr operator<(Expr a, Expr b) { return a.compare(ir::Predicate::lt, b); }
  friend Expr operator>(Expr a, Expr b) { return a.compare(ir::Predicate::gt, b); }
  friend Expr operator>=(Expr a, Expr b) { return a.compare(ir::Predicate::ge, b); }
  friend Expr operator==(Expr a, Expr b) { return a.compare(ir::Predicate::eq, b); }
  friend Expr operator!=(Expr a, Expr b) { return a.compare(ir::Predicate::ne, b); }
  friend Expr operator-(Expr a) { return a.unary(ir::Opcode::neg); }

 private:
  ir::Builder* builder_;
  ir::ValueId value_;
};

/// a * b + c, rounded once.
[[nodiscard]] inline Expr fma(Expr a, Expr b, Expr c) {
  return {a.builder(), a.builder().fma(a.value(), b.value(), c.value())};
}

}  // namespace teeny::compiler
