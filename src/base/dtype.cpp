#include "teeny/base/dtype.hpp"

#include <iterator>

#include "float_bits.hpp"

#include "teeny/base/bits.hpp"

namespace teeny {

namespace {

constexpr std::string_view names[] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                      "u32",  "u64", "f16", "bf16", "f32", "f64"};
static_assert(std::size(names) == std::size(all_dtypes));

detail::FloatFormat format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f16:
      return detail::half_format;
    case DType::bf16:
      return detail::bfloat_format;
    case DType::f32:
      return detail::single_format;
    default:
      return detail::double_format;
  }
}

u64 low_bits(DType dtype, u64 bits) noexcept {
  const int count = bits_of(dtype);
  return count == 64 ? bits : bits & ((u64{1} << count) - 1);
}

// Truncation toward zero, then the low 64 bits of the two's complement; infinities and NaN give 0.
u64 truncated(double value) noexcept {
  const u64 bits = detail::bits_of_float(value);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const int exponent = field - 1023;
  if (exponent < 0 || field == 0x7ff) return 0;
  const u64 significand = (bits & ((u64{1} << 52) - 1)) | (u64{1} << 52);
  u64 magnitude = 0;
  if (exponent <= 52) {
    magnitude = significand >> (52 - exponent);
  } else if (exponent < 52 + 64) {
    magnitude = significand << (exponent - 52);
  }
  return (bits >> 63) != 0 ? u64{0} - magnitude : magnitude;
}

}  // namespace

std::string_view name(DType dtype) noexcept { return names[static_cast<std::size_t>(dtype)]; }

std::optional<DType> parse_dtype(std::string_view text) noexcept {
  for (const DType dtype : all_dtypes) {
    if (name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

u64 encode(DType dtype, double value) noexcept {
  const u64 bits = detail::bits_of_float(value);
  if (dtype == DType::boolean) return (bits << 1) != 0 ? 1 : 0;
  if (is_float(dtype)) return detail::convert(detail::double_format, format_of(dtype), bits);
  return low_bits(dtype, truncated(value));
}

u64 encode(DType dtype, i64 value) noexcept {
  const u64 bits = static_cast<u64>(value);
  if (dtype == DType::boolean) return bits != 0 ? 1 : 0;
  if (is_float(dtype)) {
    const bool negative = value < 0;
    return detail::round_to(format_of(dtype), negative, negative ? u64{0} - bits : bits, 0);
  }
  return low_bits(dtype, bits);
}

u64 encode(DType dtype, u64 value) noexcept {
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  if (is_float(dtype)) return detail::round_to(format_of(dtype), false, value, 0);
  return low_bits(dtype, value);
}

double decode(DType dtype, u64 bits) noexcept {
  bits = low_bits(dtype, bits);
  if (is_float(dtype)) {
    return bit_cast<double>(detail::convert(format_of(dtype), detail::double_format, bits));
  }
  if (!is_signed_int(dtype)) return static_cast<double>(bits);
  const u64 sign = u64{1} << (bits_of(dtype) - 1);
  return static_cast<double>(static_cast<i64>((bits ^ sign) - sign));
}

}  // namespace teeny
