#pragma once

#include <cstdint>

#include "teeny/base/bits.hpp"

// Binary floating point formats as integers: one rounding routine for all of them, so that the
// result does not depend on -ffast-math, on flush-to-zero modes or on the processor.

namespace teeny::detail {

/// The bits of a float or double, out of the optimiser's sight: under -ffast-math clang turns an
/// integer test of bits it knows to be a float's back into a floating point one, and the processor,
/// set to treat subnormals as zero, then answers otherwise.
[[nodiscard]] inline std::uint32_t bits_of_float(float value) noexcept {
  auto bits = bit_cast<std::uint32_t>(value);
  __asm__("" : "+r"(bits));
  return bits;
}
[[nodiscard]] inline std::uint64_t bits_of_float(double value) noexcept {
  auto bits = bit_cast<std::uint64_t>(value);
  __asm__("" : "+r"(bits));
  return bits;
}

struct FloatFormat {
  int exponent_bits;
  int fraction_bits;

  [[nodiscard]] constexpr int bias() const noexcept { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr std::uint64_t exponent_mask() const noexcept {
    return (std::uint64_t{1} << exponent_bits) - 1;
  }
  [[nodiscard]] constexpr std::uint64_t fraction_mask() const noexcept {
    return (std::uint64_t{1} << fraction_bits) - 1;
  }
  [[nodiscard]] constexpr std::uint64_t infinity_bits() const noexcept {
    return exponent_mask() << fraction_bits;
  }
  [[nodiscard]] constexpr std::uint64_t sign_bit() const noexcept {
    return std::uint64_t{1} << (exponent_bits + fraction_bits);
  }
};

inline constexpr FloatFormat half_format{5, 10};
inline constexpr FloatFormat bfloat_format{8, 7};
inline constexpr FloatFormat single_format{8, 23};
inline constexpr FloatFormat double_format{11, 52};

/// The bits of the value of `format` nearest to `significand` * 2^`exponent` (ties to even), with
/// gradual underflow, and infinity beyond the largest finite value.
[[nodiscard]] std::uint64_t round_to(FloatFormat format, bool negative, std::uint64_t significand,
                                     int exponent) noexcept;

/// `bits` of `from` as bits of `to`. Infinities and signed zeros stay themselves; a NaN keeps its
/// sign and the upper bits of its payload.
[[nodiscard]] std::uint64_t convert(FloatFormat from, FloatFormat to, std::uint64_t bits) noexcept;

}  // namespace teeny::detail
