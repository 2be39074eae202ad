#include "teeny/base/dtype.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace teeny {
namespace {

TEST(DType, NamesGoThereAndBack) {
  std::set<std::string_view> seen;
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    EXPECT_TRUE(seen.insert(name(dtype)).second);
  }
  EXPECT_EQ(name(DType::boolean), "bool");
  EXPECT_EQ(name(DType::bf16), "bf16");
  EXPECT_EQ(name(DType::f64), "f64");
  for (const char* text : {"", "boolean", "F32", "f8", " i8", "i88"}) {
    EXPECT_FALSE(parse_dtype(text)) << text;
  }
}

TEST(DType, SizesAndKinds) {
  int floats = 0;
  int ints = 0;
  for (const DType dtype : all_dtypes) {
    floats += is_float(dtype) ? 1 : 0;
    ints += is_int(dtype) ? 1 : 0;
    EXPECT_EQ(bits_of(dtype), dtype == DType::boolean ? 1 : size_of(dtype) * 8);
  }
  EXPECT_EQ(floats, 4);
  EXPECT_EQ(ints, 8);
  EXPECT_EQ(size_of(dtype_of<bool>), 1);
  EXPECT_EQ(size_of(dtype_of<bf16>), 2);
  EXPECT_EQ(size_of(dtype_of<u32>), 4);
  EXPECT_EQ(size_of(dtype_of<i64>), 8);
  EXPECT_TRUE(is_signed_int(DType::i64) && !is_signed_int(DType::u8));
  EXPECT_TRUE(is_unsigned_int(DType::u8) && !is_unsigned_int(DType::f16));
  static_assert(Element<f16> && Element<bool> && !Element<char32_t> && !Element<long double>);
}

TEST(Encode, IntegersWrap) {
  EXPECT_EQ(encode(DType::i8, i64{-1}), 0xffU);
  EXPECT_EQ(encode(DType::u8, i64{257}), 1U);
  EXPECT_EQ(encode(DType::i16, i64{-32769}), 0x7fffU);
  EXPECT_EQ(encode(DType::u32, u64{0x1'0000'0002U}), 2U);
  EXPECT_EQ(encode(DType::i64, i64{-2}), ~u64{1});
  EXPECT_EQ(encode(DType::u64, ~u64{0}), ~u64{0});
  EXPECT_EQ(encode(DType::i8, -1.9), 0xffU);
  EXPECT_EQ(encode(DType::u8, 300.7), 44U);
  EXPECT_EQ(encode(DType::i64, -9223372036854775808.0), u64{1} << 63);
  EXPECT_EQ(encode(DType::u64, 18446744073709549568.0), 18446744073709549568U);
  EXPECT_EQ(encode(DType::u32, 0.999), 0U);
  EXPECT_EQ(encode(DType::i32, std::bit_cast<double>(0x7ff0000000000000U)), 0U);
  EXPECT_EQ(encode(DType::i32, std::bit_cast<double>(0x7ff8000000000000U)), 0U);
  EXPECT_EQ(encode(DType::i32, std::ldexp(1.0, 200)), 0U);
}

TEST(Encode, Booleans) {
  EXPECT_EQ(encode(DType::boolean, 0.0), 0U);
  EXPECT_EQ(encode(DType::boolean, std::bit_cast<double>(u64{1} << 63)), 0U);
  EXPECT_EQ(encode(DType::boolean, std::bit_cast<double>(u64{1})), 1U);
  EXPECT_EQ(encode(DType::boolean, i64{-4}), 1U);
  EXPECT_EQ(encode(DType::boolean, u64{256}), 1U);
  EXPECT_EQ(encode(DType::boolean, i64{0}), 0U);
}

TEST(Encode, FloatsAsTheProcessorRoundsThem) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300'000; ++i) {
    // Exponents in the normal range of f32: flush-to-zero modes do not matter for the reference.
    const u64 field = 1023 - 125 + random() % 250;
    const double value = std::bit_cast<double>((random() & 0x800fffffffffffffU) | field << 52);
    ASSERT_EQ(encode(DType::f64, value), std::bit_cast<u64>(value));
    ASSERT_EQ(encode(DType::f32, value), std::bit_cast<u32>(static_cast<float>(value)));
    ASSERT_EQ(encode(DType::f16, value), f16(value).bits());
    ASSERT_EQ(encode(DType::bf16, value), bf16(value).bits());
    const u64 number = random() >> random() % 64;
    ASSERT_EQ(encode(DType::f32, number), std::bit_cast<u32>(static_cast<float>(number)));
    ASSERT_EQ(encode(DType::f64, number), std::bit_cast<u64>(static_cast<double>(number)));
    const auto whole = static_cast<i64>(random()) >> random() % 64;
    ASSERT_EQ(encode(DType::f32, whole), std::bit_cast<u32>(static_cast<float>(whole)));
    ASSERT_EQ(encode(DType::f64, whole), std::bit_cast<u64>(static_cast<double>(whole)));
  }
}

TEST(Encode, SubnormalsOfSingleAreExact) {
  EXPECT_EQ(encode(DType::f32, std::ldexp(1.0, -149)), 1U);
  EXPECT_EQ(encode(DType::f32, std::ldexp(1.0, -150)), 0U);
  EXPECT_EQ(encode(DType::f32, std::ldexp(3.0, -150)), 2U);
  EXPECT_EQ(encode(DType::f32, -std::ldexp(5.0, -149)), 0x80000005U);
}

// Halfway between two bf16, and one bit above it that f64 would drop.
TEST(Encode, IntegersAreRoundedOnce) {
  const u64 number = (u64{0x101} << 54) + 1;
  EXPECT_EQ(encode(DType::bf16, number), bf16(std::ldexp(258.0, 54)).bits());
  EXPECT_EQ(encode(DType::bf16, number - 1), bf16(std::ldexp(256.0, 54)).bits());
  EXPECT_EQ(encode(DType::f16, i64{-65520}), 0xfc00U);
  EXPECT_EQ(encode(DType::f16, i64{-65519}), 0xfbffU);
  EXPECT_EQ(encode(DType::f32, std::numeric_limits<i64>::min()), 0xdf000000U);
}

TEST(Decode, EveryPatternOfTheSmallTypes) {
  for (u64 bits = 0; bits < 65536; ++bits) {
    for (const DType dtype : {DType::i16, DType::u16, DType::f16, DType::bf16}) {
      const bool nan =
          is_float(dtype) && (bits & 0x7fff) > (dtype == DType::f16 ? 0x7c00U : 0x7f80U);
      ASSERT_EQ(encode(dtype, decode(dtype, bits)), bits) << name(dtype) << " nan " << nan;
    }
  }
  for (u64 bits = 0; bits < 256; ++bits) {
    ASSERT_EQ(encode(DType::i8, decode(DType::i8, bits)), bits);
    ASSERT_EQ(encode(DType::u8, decode(DType::u8, bits)), bits);
  }
}

TEST(Decode, Values) {
  EXPECT_EQ(decode(DType::i8, 0xff), -1.0);
  EXPECT_EQ(decode(DType::u8, 0xff), 255.0);
  EXPECT_EQ(decode(DType::i32, 0x80000000U), -2147483648.0);
  EXPECT_EQ(decode(DType::i64, ~u64{0}), -1.0);
  EXPECT_EQ(decode(DType::u64, ~u64{0}), 18446744073709551616.0);
  EXPECT_EQ(decode(DType::boolean, 1), 1.0);
  EXPECT_EQ(decode(DType::f32, std::bit_cast<u32>(1.5F)), 1.5);
  EXPECT_EQ(decode(DType::f64, std::bit_cast<u64>(-0.1)), -0.1);
  EXPECT_EQ(std::bit_cast<u64>(decode(DType::f32, 1)), std::bit_cast<u64>(std::ldexp(1.0, -149)));
  // High bits beyond the type are not part of the value.
  EXPECT_EQ(decode(DType::i8, 0xf01), 1.0);
}

}  // namespace
}  // namespace teeny
