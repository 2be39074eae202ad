#include "teeny/lang/number.hpp"

#include <limits>
#include <sstream>

#include "teeny/base/error.hpp"

namespace teeny::lang {

namespace {

u64 infinity_bits(DType dtype, bool negative) {
  u64 bits = 0;
  switch (dtype) {
    case DType::f16:
      bits = 0x7c00;
      break;
    case DType::bf16:
      bits = 0x7f80;
      break;
    case DType::f32:
      bits = 0x7f800000;
      break;
    default:
      bits = 0x7ff0000000000000;
      break;
  }
  return negative ? bits | u64{1} << (bits_of(dtype) - 1) : bits;
}

}  // namespace

std::string Number::text() const {
  switch (kind_) {
    case Kind::boolean:
      return integer_ != 0 ? "true" : "false";
    case Kind::signed_integer:
      return std::to_string(static_cast<i64>(integer_));
    case Kind::unsigned_integer:
      return std::to_string(integer_);
    case Kind::infinity:
      return integer_ != 0 ? "-infinity" : "infinity";
    case Kind::floating:
      break;
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(std::numeric_limits<double>::max_digits10);
  out << floating_;
  return out.str();
}

std::string Number::misfit(DType dtype) const {
  const std::string wanted(name(dtype));
  if ((kind_ == Kind::boolean) != (dtype == DType::boolean)) {
    return text() + " is no " + wanted;
  }
  if (kind_ == Kind::boolean || is_float(dtype)) return {};
  if (kind_ == Kind::floating || kind_ == Kind::infinity) {
    return text() + " is a float, and " + wanted + " an integer type";
  }
  const int bits = bits_of(dtype);
  bool fits = false;
  if (kind_ == Kind::signed_integer) {
    const auto value = static_cast<i64>(integer_);
    if (is_signed_int(dtype)) {
      const i64 highest = std::numeric_limits<i64>::max() >> (64 - bits);
      fits = value >= -highest - 1 && value <= highest;
    } else {
      fits = value >= 0 && (bits == 64 || integer_ >> bits == 0);
    }
  } else {
    const int usable = is_signed_int(dtype) ? bits - 1 : bits;
    fits = usable == 64 || integer_ >> usable == 0;
  }
  return fits ? std::string() : text() + " is outside the range of " + wanted;
}

u64 Number::bits(DType dtype) const {
  const std::string wrong = misfit(dtype);
  if (!wrong.empty()) {
    throw Error(ErrorKind::input, wrong,
                "write a literal of the tile's dtype, or convert the tile with cast");
  }
  switch (kind_) {
    case Kind::boolean:
    case Kind::unsigned_integer:
      return encode(dtype, integer_);
    case Kind::signed_integer:
      return encode(dtype, static_cast<i64>(integer_));
    case Kind::infinity:
      return infinity_bits(dtype, integer_ != 0);
    case Kind::floating:
      break;
  }
  return encode(dtype, floating_);
}

}  // namespace teeny::lang
