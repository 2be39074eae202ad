#include "teeny/base/float16.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include "teeny/base/dtype.hpp"

namespace teeny {
namespace {

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// The value of a pattern, built from its fields by the definition of the format.
template <class T>
double value_of(std::uint16_t pattern) {
  constexpr int fraction_bits = std::is_same_v<T, f16> ? 10 : 7;
  constexpr int exponent_bits = 15 - fraction_bits;
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = pattern >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = pattern & ((1 << fraction_bits) - 1);
  const double magnitude =
      field == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                 : std::ldexp(fraction + (1 << fraction_bits), field - bias - fraction_bits);
  return (pattern & 0x8000) != 0 ? -magnitude : magnitude;
}

// The same value in binary32. Subnormal bf16 are subnormal there, where a processor in
// flush-to-zero mode (as -ffast-math sets it) cannot be asked.
template <class T>
std::uint32_t single_bits(std::uint16_t pattern) {
  if (std::is_same_v<T, bf16>) return std::uint32_t{pattern} << 16;
  return bits(static_cast<float>(value_of<T>(pattern)));
}

template <class T>
bool is_finite(std::uint16_t pattern) {
  const int infinity = std::is_same_v<T, f16> ? 0x7c00 : 0x7f80;
  return (pattern & 0x7fff) < infinity;
}

template <class T>
class Float16 : public testing::Test {};
using Types = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Float16, Types);

TYPED_TEST(Float16, EveryPatternRoundTrips) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto pattern = static_cast<std::uint16_t>(i);
    const auto value = TypeParam::from_bits(pattern);
    ASSERT_EQ(TypeParam(static_cast<float>(value)).bits(), pattern);
    ASSERT_EQ(TypeParam(static_cast<double>(value)).bits(), pattern);
    if (is_finite<TypeParam>(pattern)) {
      ASSERT_EQ(bits(static_cast<double>(value)), bits(value_of<TypeParam>(pattern))) << pattern;
      ASSERT_EQ(bits(static_cast<float>(value)), single_bits<TypeParam>(pattern)) << pattern;
    }
  }
}

// Between each two neighbours: the midpoint goes to the even one, and the values just beside it to
// the nearer one, from f64 (one rounding only: the neighbours of the midpoint are lost in f32).
TYPED_TEST(Float16, EveryMidpointRoundsToEven) {
  const auto infinity = TypeParam(std::bit_cast<float>(0x7f800000U)).bits();
  for (std::uint16_t low = 0; low < infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    // Past the largest finite value stands what would be the next one, had the format more room.
    const double below = value_of<TypeParam>(low);
    const double above = value_of<TypeParam>(high);
    const double middle = below + (above - below) / 2;
    const std::uint16_t even = (low & 1) == 0 ? low : high;
    ASSERT_EQ(TypeParam(middle).bits(), even) << low;
    ASSERT_EQ(TypeParam(std::bit_cast<double>(bits(middle) - 1)).bits(), low) << low;
    ASSERT_EQ(TypeParam(std::bit_cast<double>(bits(middle) + 1)).bits(), high) << low;
    ASSERT_EQ(TypeParam(-middle).bits(), even | 0x8000) << low;
    const auto middle32 =
        std::bit_cast<float>(std::is_same_v<TypeParam, bf16> ? (std::uint32_t{low} << 16 | 0x8000U)
                                                             : bits(static_cast<float>(middle)));
    ASSERT_EQ(TypeParam(middle32).bits(), even) << low;
    ASSERT_EQ(TypeParam(std::bit_cast<float>(bits(middle32) - 1)).bits(), low) << low;
    ASSERT_EQ(TypeParam(std::bit_cast<float>(bits(middle32) + 1)).bits(), high) << low;
  }
}

TYPED_TEST(Float16, Specials) {
  const std::uint16_t infinity = std::is_same_v<TypeParam, f16> ? 0x7c00 : 0x7f80;
  EXPECT_EQ(TypeParam(1e300).bits(), infinity);
  EXPECT_EQ(TypeParam(-1e300).bits(), infinity | 0x8000);
  EXPECT_EQ(TypeParam(1e-300).bits(), 0);
  EXPECT_EQ(TypeParam(-1e-300).bits(), 0x8000);
  EXPECT_EQ(TypeParam(std::bit_cast<double>(std::uint64_t{1})).bits(), 0);
  EXPECT_EQ(TypeParam(std::bit_cast<float>(0x80000000U)).bits(), 0x8000);
  // A NaN whose payload lies below the bits that are kept must not become an infinity.
  for (const std::uint32_t nan : {0x7f800001U, 0xff800001U, 0x7fc00000U, 0x7fffffffU}) {
    const auto pattern = TypeParam(std::bit_cast<float>(nan)).bits();
    EXPECT_GT(pattern & 0x7fff, infinity);
    EXPECT_EQ(pattern & 0x8000, nan >> 16 & 0x8000);
  }
  EXPECT_GT(TypeParam(std::bit_cast<double>(0x7ff0000000000001U)).bits(), infinity);
  EXPECT_EQ(TypeParam(2).bits(), TypeParam(2.0).bits());
}

// 1 + 2^-11 + 2^-40 lies just above a midpoint of f16; through f32 it would fall on it and go down.
TEST(Float16Once, DoubleIsRoundedOnce) {
  const double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(f16(value).bits(), 0x3c01);
  EXPECT_EQ(f16(static_cast<float>(value)).bits(), 0x3c00);
  EXPECT_EQ(bf16(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)).bits(), 0x3f81);
}

#if defined(__FLT16_MANT_DIG__) && (defined(__x86_64__) || defined(__aarch64__))
TEST(Float16Once, AgreesWithTheCompilersOwnType) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 400'000; ++i) {
    // Exponents around the range of f16, so that most draws are neither zero nor infinity.
    const std::uint64_t field = 1023 - 30 + random() % 50;
    const double value = std::bit_cast<double>((random() & 0x800fffffffffffffU) | field << 52);
    ASSERT_EQ(f16(value).bits(), std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)));
    // Drawn anew: under -ffast-math a value rounded twice may be rounded once by the compiler.
    const auto field32 = static_cast<std::uint32_t>(127 - 30 + random() % 46);
    const auto single =
        std::bit_cast<float>((static_cast<std::uint32_t>(random()) & 0x807fffffU) | field32 << 23);
    ASSERT_EQ(f16(single).bits(), std::bit_cast<std::uint16_t>(static_cast<_Float16>(single)));
  }
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto pattern = static_cast<std::uint16_t>(i);
    if ((pattern & 0x7fff) > 0x7c00) continue;  // the processor quiets NaNs
    const auto theirs = static_cast<float>(std::bit_cast<_Float16>(pattern));
    ASSERT_EQ(bits(static_cast<float>(f16::from_bits(pattern))), bits(theirs));
  }
}
#endif

TEST(Float16Once, SinglePatternsTruncatedToBfloatAreNearest) {
  std::mt19937 random(11);
  for (int i = 0; i < 400'000; ++i) {
    const auto pattern = static_cast<std::uint32_t>(random());
    if ((pattern & 0x7f800000U) == 0x7f800000U) continue;
    // The well known bit trick for bfloat16, as an independent statement of the rule.
    const std::uint32_t rounded = pattern + 0x7fffU + (pattern >> 16 & 1U);
    ASSERT_EQ(bf16(std::bit_cast<float>(pattern)).bits(), rounded >> 16);
  }
}

}  // namespace
}  // namespace teeny
