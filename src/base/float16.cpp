#include "teeny/base/float16.hpp"

#include <bit>

#include "float_bits.hpp"

#include "teeny/base/bits.hpp"

namespace teeny {

namespace detail {

std::uint64_t round_to(FloatFormat format, bool negative, std::uint64_t significand,
                       int exponent) noexcept {
  const std::uint64_t sign = negative ? format.sign_bit() : 0;
  if (significand == 0) return sign;
  const int width = 64 - std::countl_zero(significand);
  // The exponent of the last kept bit: set by the leading bit, or by the subnormal grid.
  const int leading = exponent + width - 1;
  const int lowest_normal = 1 - format.bias();
  if (leading > format.bias()) return sign | format.infinity_bits();
  const int last = (leading < lowest_normal ? lowest_normal : leading) - format.fraction_bits;
  const int dropped = last - exponent;
  std::uint64_t kept = 0;
  if (dropped <= 0) {
    kept = significand << -dropped;
  } else if (dropped <= 64) {
    kept = dropped == 64 ? 0 : significand >> dropped;
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t rest = significand & (half | (half - 1));
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // `kept` has its leading one at fraction_bits when normal; adding it to the exponent field below
  // lets a carry out of the fraction raise the exponent, up to infinity.
  const auto field =
      static_cast<std::uint64_t>(leading < lowest_normal ? 0 : leading - lowest_normal);
  return sign | ((field << format.fraction_bits) + kept);
}

std::uint64_t convert(FloatFormat from, FloatFormat to, std::uint64_t bits) noexcept {
  const bool negative = (bits & from.sign_bit()) != 0;
  const std::uint64_t field = (bits >> from.fraction_bits) & from.exponent_mask();
  const std::uint64_t fraction = bits & from.fraction_mask();
  if (field == from.exponent_mask()) {
    const std::uint64_t sign = negative ? to.sign_bit() : 0;
    if (fraction == 0) return sign | to.infinity_bits();
    const int difference = to.fraction_bits - from.fraction_bits;
    std::uint64_t payload = difference >= 0 ? fraction << difference : fraction >> -difference;
    // Nothing left of the payload would read as infinity; the quiet bit keeps it a NaN.
    if (payload == 0) payload = std::uint64_t{1} << (to.fraction_bits - 1);
    return sign | to.infinity_bits() | payload;
  }
  const bool normal = field != 0;
  const std::uint64_t significand =
      normal ? fraction | (std::uint64_t{1} << from.fraction_bits) : fraction;
  const int exponent = static_cast<int>(normal ? field : 1) - from.bias() - from.fraction_bits;
  return round_to(to, negative, significand, exponent);
}

}  // namespace detail

using detail::bfloat_format;
using detail::convert;
using detail::double_format;
using detail::half_format;
using detail::single_format;

f16::f16(float value) noexcept
    : bits_(static_cast<std::uint16_t>(
          convert(single_format, half_format, detail::bits_of_float(value)))) {}

f16::f16(double value) noexcept
    : bits_(static_cast<std::uint16_t>(
          convert(double_format, half_format, detail::bits_of_float(value)))) {}

f16::operator float() const noexcept {
  return bit_cast<float>(static_cast<std::uint32_t>(convert(half_format, single_format, bits_)));
}

f16::operator double() const noexcept {
  return bit_cast<double>(convert(half_format, double_format, bits_));
}

bf16::bf16(float value) noexcept
    : bits_(static_cast<std::uint16_t>(
          convert(single_format, bfloat_format, detail::bits_of_float(value)))) {}

bf16::bf16(double value) noexcept
    : bits_(static_cast<std::uint16_t>(
          convert(double_format, bfloat_format, detail::bits_of_float(value)))) {}

bf16::operator float() const noexcept { return bit_cast<float>(std::uint32_t{bits_} << 16); }

bf16::operator double() const noexcept {
  return bit_cast<double>(convert(bfloat_format, double_format, bits_));
}

}  // namespace teeny
