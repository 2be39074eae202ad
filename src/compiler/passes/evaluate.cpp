#include "compiler/passes/evaluate.hpp"

#include <cmath>
#include <limits>

namespace teeny::compiler {
namespace {

using ir::Opcode;
using Bits = std::optional<std::uint64_t>;

std::int64_t as_signed(DType dtype, std::uint64_t bits) {
  const int unused = 64 - bits_of(dtype);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// Two's complement arithmetic on the low bits; `encode` cuts to the width.
Bits integer_binary(Opcode code, DType dtype, std::uint64_t a, std::uint64_t b) {
  const bool is_signed = is_signed_int(dtype);
  const auto width = static_cast<std::uint64_t>(bits_of(dtype));
  const std::int64_t sa = as_signed(dtype, a);
  const std::int64_t sb = as_signed(dtype, b);
  const auto cut = [&](std::uint64_t value) { return encode(dtype, static_cast<u64>(value)); };
  const auto cut_signed = [&](std::int64_t value) {
    return cut(static_cast<std::uint64_t>(value));
  };
  switch (code) {
    case Opcode::add:
      return cut(a + b);
    case Opcode::sub:
      return cut(a - b);
    case Opcode::mul:
      return cut(a * b);
    case Opcode::div:
      if (b == 0) return cut(0);
      if (!is_signed) return cut(a / b);
      return sb == -1 ? cut(0 - a) : cut_signed(sa / sb);
    case Opcode::rem:
      if (b == 0) return cut(0);
      if (!is_signed) return cut(a % b);
      return sb == -1 ? cut(0) : cut_signed(sa % sb);
    case Opcode::minimum:
      return (is_signed ? sa < sb : a < b) ? a : b;
    case Opcode::maximum:
      return (is_signed ? sa > sb : a > b) ? a : b;
    case Opcode::bit_and:
      return a & b;
    case Opcode::bit_or:
      return a | b;
    case Opcode::bit_xor:
      return a ^ b;
    case Opcode::shl:
      return b >= width ? cut(0) : cut(a << b);
    case Opcode::shr:
      if (is_signed) return cut_signed(sa >> (b >= width ? width - 1 : b));
      return b >= width ? cut(0) : cut(a >> b);
    case Opcode::umulhi: {
      __extension__ using u128 = unsigned __int128;
      return cut(
          static_cast<std::uint64_t>((static_cast<u128>(a) * static_cast<u128>(b)) >> width));
    }
    default:
      return std::nullopt;
  }
}

/// f16 and bf16 are computed in f32; add, sub, mul, div and sqrt of two f32 done in f64 and rounded
/// once more give the f32 result (53 >= 2 * 24 + 2 bits).
std::uint64_t round_to(DType dtype, double value) {
  return size_of(dtype) == 2 ? encode(dtype, static_cast<double>(static_cast<float>(value)))
                             : encode(dtype, value);
}

Bits float_binary(Opcode code, DType dtype, double a, double b) {
  const auto pick = [&](bool first) { return encode(dtype, first ? a : b); };
  switch (code) {
    case Opcode::add:
      return round_to(dtype, a + b);
    case Opcode::sub:
      return round_to(dtype, a - b);
    case Opcode::mul:
      return round_to(dtype, a * b);
    case Opcode::div:
      return round_to(dtype, a / b);
    case Opcode::minimum:  // -0 before 0, as processors have it
      return pick(std::isnan(a) || a < b || (a == b && std::signbit(a)));
    case Opcode::maximum:
      return pick(std::isnan(a) || a > b || (a == b && !std::signbit(a)));
    default:
      return std::nullopt;
  }
}

bool holds(ir::Predicate predicate, DType dtype, std::uint64_t a, std::uint64_t b) {
  const auto compare = [&](auto x, auto y) {
    switch (predicate) {
      case ir::Predicate::eq:
        return x == y;
      case ir::Predicate::ne:
        return x != y;
      case ir::Predicate::lt:
        return x < y;
      case ir::Predicate::le:
        return x <= y;
      case ir::Predicate::gt:
        return x > y;
      case ir::Predicate::ge:
        return x >= y;
    }
    return false;
  };
  if (is_float(dtype)) return compare(decode(dtype, a), decode(dtype, b));
  if (is_signed_int(dtype)) return compare(as_signed(dtype, a), as_signed(dtype, b));
  return compare(a, b);
}

std::uint64_t saturate(DType to, double value) {
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  const int value_bits = bits_of(to) - (is_signed_int(to) ? 1 : 0);
  const double limit = std::ldexp(1.0, value_bits);
  if (whole >= limit) {
    const std::uint64_t highest =
        value_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << value_bits) - 1;
    return highest;
  }
  if (!is_signed_int(to)) return whole <= 0 ? 0 : static_cast<std::uint64_t>(whole);
  if (whole <= -limit) return encode(to, static_cast<u64>(std::uint64_t{1} << value_bits));
  return encode(to, static_cast<i64>(whole));
}

Bits cast(DType from, DType to, std::uint64_t bits) {
  if (from == to) return bits;
  if (to == DType::boolean) return is_float(from) ? decode(from, bits) != 0.0 : bits != 0;
  if (is_float(from))
    return is_float(to) ? encode(to, decode(from, bits)) : saturate(to, decode(from, bits));
  if (is_float(to)) {
    return is_signed_int(from) ? encode(to, as_signed(from, bits))
                               : encode(to, static_cast<u64>(bits));
  }
  return encode(
      to, is_signed_int(from) ? static_cast<u64>(as_signed(from, bits)) : static_cast<u64>(bits));
}

Bits unary(Opcode code, DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) {
    const std::uint64_t sign = std::uint64_t{1} << (bits_of(dtype) - 1);
    const double value = decode(dtype, bits);
    switch (code) {
      case Opcode::neg:
        return bits ^ sign;
      case Opcode::abs:
        return bits & ~sign;
      case Opcode::sqrt:
        return round_to(dtype, std::sqrt(value));
      case Opcode::floor:
        return encode(dtype, std::floor(value));
      case Opcode::ceil:
        return encode(dtype, std::ceil(value));
      case Opcode::round:
        return encode(dtype, std::nearbyint(value));
      default:
        return std::nullopt;
    }
  }
  switch (code) {
    case Opcode::neg:
      return encode(dtype, static_cast<u64>(0 - bits));
    case Opcode::abs:
      return is_signed_int(dtype) && as_signed(dtype, bits) < 0
                 ? encode(dtype, static_cast<u64>(0 - bits))
                 : bits;
    case Opcode::bit_not:
      return dtype == DType::boolean ? bits ^ 1 : encode(dtype, static_cast<u64>(~bits));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint64_t> evaluate(const ir::Op& op, DType operand, DType result,
                                      const std::vector<std::uint64_t>& bits) {
  switch (op.code) {
    case Opcode::cast:
      return cast(operand, result, bits[0]);
    case Opcode::bitcast:
      return bits[0];
    case Opcode::compare:
      return holds(op.predicate, operand, bits[0], bits[1]) ? 1 : 0;
    case Opcode::select:
      return bits[0] != 0 ? bits[1] : bits[2];
    case Opcode::fma: {
      const double a = decode(operand, bits[0]);
      const double b = decode(operand, bits[1]);
      const double c = decode(operand, bits[2]);
      if (operand == DType::f64) return encode(operand, std::fma(a, b, c));
      return encode(operand,
                    static_cast<double>(std::fma(static_cast<float>(a), static_cast<float>(b),
                                                 static_cast<float>(c))));
    }
    default:
      break;
  }
  if (bits.size() == 1) return unary(op.code, operand, bits[0]);
  if (bits.size() != 2) return std::nullopt;
  if (is_float(operand))
    return float_binary(op.code, operand, decode(operand, bits[0]), decode(operand, bits[1]));
  if (operand == DType::boolean && op.code != Opcode::bit_and && op.code != Opcode::bit_or &&
      op.code != Opcode::bit_xor)
    return std::nullopt;
  return integer_binary(op.code, operand, bits[0], bits[1]);
}

}  // namespace teeny::compiler
