#include <optional>
#include <type_traits>

#include "tests/lang/record_support.hpp"

namespace {

using namespace teeny;
using namespace teeny::test;
using testing::HasSubstr;

TEST(Tile, BroadcastsAsNumPyDoes) {
  recorded([](Ptr<f32>) {
    const auto column = expand_dims<1>(zeros<f32, 64>());
    const auto row = zeros<f32, 32>();
    static_assert(std::is_same_v<decltype(column * row), Tile<f32, 64, 32>>);
    static_assert(std::is_same_v<decltype(row + 1), Tile<f32, 32>>);
    static_assert(std::is_same_v<decltype(2.0 - zeros<f32>()), Scalar<f32>>);
    static_assert(
        std::is_same_v<decltype(zeros<f32, 2, 1, 4>() + zeros<f32, 8, 1>()), Tile<f32, 2, 8, 4>>);
    static_assert(std::is_same_v<decltype(column < row), Tile<bool, 64, 32>>);
    static_assert(std::is_same_v<decltype(expand_dims<-1>(row)), Tile<f32, 32, 1>>);
    EXPECT_EQ((column * row).any().shape(), (Shape{64, 32}));
    EXPECT_EQ((zeros<f32, 2, 1, 4>() + zeros<f32, 8, 1>()).any().shape(), (Shape{2, 8, 4}));
  });
}

TEST(Tile, RecordsTheSameThroughBothFaces) {
  const auto typed = [](Ptr<const f32> in, Ptr<f32> out, Int n) {
    const auto i = program_id(0) * 64 + arange<64>();
    const auto x = load(in + i, {.mask = i < n, .other = -infinity});
    const auto y = where(x > 0, exp(x - max(x)), fma(x, 0.5f, 1));
    store(out + i, clamp(y, 0, 1) / sum<0>(y), i < n);
  };
  const auto dynamic = [](Ptr<const f32> in, Ptr<f32> out, Int n) {
    const AnyTile i = AnyTile(program_id(0)) * 64 + arange(0, 64);
    const AnyTile x = load(AnyPtr(in) + i, {.mask = i < n, .other = -infinity});
    const AnyTile y = where(x > 0, exp(x - max(x)), fma(x, 0.5f, 1));
    store(AnyPtr(out) + i, clamp(y, 0, 1) / sum(y, 0), i < n);
  };
  EXPECT_TRUE(same_kernel(typed, dynamic));
}

TEST(Tile, OperatorsRecordTheirOperation) {
  const std::string all = text([](Ptr<i32> p, Ptr<f32> q) {
    const auto i = arange<4>();
    auto a = i + 1;
    a -= 2;
    a *= i;
    a /= 3;
    a %= 4;
    a &= 5;
    a |= 6;
    a ^= 7;
    a <<= 1;
    a >>= 2;
    store(p + i, -~a, (a == 1) | (a != 2) | (a < 3) | (a <= 4) | (a > 5) | !(a >= 6));
    const auto x = load(q + i);
    store(q - i, sin(x) + cos(x) + log2(x) + exp2(x) + ceil(x) + round(x) + floor(x) + rsqrt(x) +
                     sqrt(x) + tanh(x) + sigmoid(x) + erf(x) + log(x) + abs(x) + minimum(x, 1) +
                     maximum(2, x));
  });
  for (const char* name :
       {"add",          "sub",          "mul",          "div",          "rem",          "bit_and",
        "bit_or",       "bit_xor",      "shl",          "shr",          "neg",          "bit_not",
        "predicate=ne", "predicate=lt", "predicate=le", "predicate=gt", "predicate=ge", "sin",
        "cos",          "log2",         "exp2",         "ceil",         "round",        "floor",
        "rsqrt",        "sqrt",         "tanh",         "sigmoid",      "erf",          "= log %",
        "abs",          "minimum",      "maximum"}) {
    EXPECT_THAT(all, HasSubstr(name));
  }
}

TEST(Tile, LiteralsTakeTheTilesDtype) {
  const std::string all =
      text([](Ptr<f16> h, Ptr<bf16> b, Ptr<u8> u, Ptr<i64> l, Ptr<f64> d, Ptr<bool> t) {
        store(h, load(h) * 0.5);
        store(b, load(b) - 1);
        store(u, load(u) + 255u);
        store(l, load(l) + (i64{1} << 40));
        store(d, load(d) + 0.1);
        store(t, load(t) ^ true);
        store(h, f16(2.0f) * load(h));
      });
  EXPECT_THAT(all, HasSubstr("bits=0x3800 : f16"));
  EXPECT_THAT(all, HasSubstr("bits=0x3f80 : bf16"));
  EXPECT_THAT(all, HasSubstr("bits=0xff : u8"));
  EXPECT_THAT(all, HasSubstr("bits=0x10000000000 : i64"));
  EXPECT_THAT(all, HasSubstr("bits=0x3fb999999999999a : f64"));
  EXPECT_THAT(all, HasSubstr("bits=0x1 : bool"));
  EXPECT_THAT(all, HasSubstr("bits=0x4000 : f16"));
}

TEST(Tile, LiteralOutsideTheRangeOfTheDtypeIsRefused) {
  const auto with = [](auto literal) {
    return error_of([&] { recorded([=](Ptr<u8> p) { store(p, load(p) + literal); }); });
  };
  EXPECT_THAT(with(256), HasSubstr("256 is outside the range of u8"));
  EXPECT_THAT(with(-1), HasSubstr("-1 is outside the range of u8"));
  EXPECT_EQ(with(255), "");
  EXPECT_THAT(error_of([] { recorded([](Ptr<i64> p) { store(p, ~u64{0}); }); }),
              HasSubstr("18446744073709551615 is outside the range of i64"));
  EXPECT_EQ(error_of([] { recorded([](Ptr<i8> p) { store(p, -128); }); }), "");
  EXPECT_THAT(error_of([] { recorded([](Ptr<i8> p) { store(p, 128); }); }),
              HasSubstr("range of i8"));
}

TEST(Tile, InfinityIsALiteralOfEveryFloat) {
  const std::string all = text([](Ptr<f16> h, Ptr<bf16> b, Ptr<f32> f, Ptr<f64> d) {
    store(h, infinity);
    store(b, -infinity);
    store(f, -infinity);
    store(d, infinity);
  });
  EXPECT_THAT(all, HasSubstr("bits=0x7c00 : f16"));
  EXPECT_THAT(all, HasSubstr("bits=0xff80 : bf16"));
  EXPECT_THAT(all, HasSubstr("bits=0xff800000 : f32"));
  EXPECT_THAT(all, HasSubstr("bits=0x7ff0000000000000 : f64"));
}

TEST(Tile, ShapesChangeWithoutMovingElements) {
  recorded([](Ptr<f32>) {
    const auto x = reshape<4, 2, 8>(zeros<f32, 64>());
    static_assert(std::is_same_v<decltype(permute<2, 0, 1>(x)), Tile<f32, 8, 4, 2>>);
    EXPECT_EQ((permute<2, 0, 1>(x).any().shape()), (Shape{8, 4, 2}));
    EXPECT_EQ((trans(reshape<4, 16>(x)).any().shape()), (Shape{16, 4}));
    EXPECT_EQ((broadcast_to<2, 4>(zeros<f32, 1>()).any().shape()), (Shape{2, 4}));
    EXPECT_EQ(expand_dims(AnyTile(x), -2).shape(), (Shape{4, 2, 1, 8}));
    EXPECT_EQ((cast<i8>(x).any().dtype()), DType::i8);
    EXPECT_EQ((bitcast<u32>(x).any().dtype()), DType::u32);
  });
}

TEST(Tile, CastToTheSameDtypeRecordsNothing) {
  EXPECT_THAT(text([](Ptr<f32> p) { store(p, cast<f32>(load(p))); }),
              testing::Not(HasSubstr("= cast")));
}

TEST(Tile, PointersMoveByAnyInteger) {
  const std::string all =
      text([](Ptr<f32> p, Scalar<u8> small, Scalar<u32> wide, Scalar<u64> wider) {
        store(p + small, 1);
        store(wide + p, 2);
        store(p - wider, 3);
        store(p + (i64{1} << 33), 4);
      });
  EXPECT_THAT(all, HasSubstr("cast %1 : i32"));
  EXPECT_THAT(all, HasSubstr("cast %2 : i64"));
  EXPECT_THAT(all, HasSubstr("cast %3 : i64"));
  EXPECT_THAT(all, HasSubstr("bits=0x200000000 : i64"));
}

TEST(Tile, PointersMoveBackByTheLowestIntegerToo) {
  EXPECT_THAT(text([](Ptr<f32> p, Int back) { store(p - back, 1); }),
              testing::ContainsRegex("%2 = cast %1 : i64\n *%3 = neg %2 : i64\n"));
  EXPECT_THAT(text([](Ptr<f32> p) { store(p - std::numeric_limits<i32>::min(), 1); }),
              testing::ContainsRegex("neg %[0-9]+ : i64"));
}

TEST(Tile, CeilingDivisionNeverLeavesTheRange) {
  static_assert(cdiv(std::numeric_limits<i32>::max(), 2) == 1 << 30);
  static_assert(cdiv(0, 7) == 0 && cdiv(14, 7) == 2 && cdiv(15, 7) == 3);
  static_assert(cdiv(-15, 7) == -2 && cdiv(-14, 7) == -2 && cdiv(-1, 7) == 0);
  EXPECT_TRUE(test::same_kernel(
      [](Ptr<i32> p, Int a, Int b) { store(p, cdiv(a, b)); },
      [](Ptr<i32> p, Int a, Int b) { store(p, where(a % b > 0, a / b + 1, a / b)); }));
  EXPECT_TRUE(
      test::same_kernel([](Ptr<i32> p, Int a) { store(p, cdiv(a, 128)); },
                        [](Ptr<i32> p, Int a) { store(AnyPtr(p), cdiv(AnyTile(a), 128)); }));
}

TEST(AnyTile, MismatchNamesBothShapes) {
  const std::string error = error_of([] {
    recorded(
        [](Ptr<f32>) { static_cast<void>(zeros(DType::f32, {64, 32}) + zeros(DType::f32, {64})); });
  });
  EXPECT_THAT(error, HasSubstr("[64, 32]"));
  EXPECT_THAT(error, HasSubstr("[64]"));
  EXPECT_THAT(error, HasSubstr("kernel 'k'"));
  EXPECT_THAT(error, HasSubstr("expand_dims"));
}

TEST(AnyTile, MismatchNamesBothDtypes) {
  const std::string error = error_of([] {
    recorded([](Ptr<f32>) { static_cast<void>(zeros(DType::f32, {4}) * zeros(DType::f16, {4})); });
  });
  EXPECT_THAT(error, HasSubstr("f32[4]"));
  EXPECT_THAT(error, HasSubstr("f16[4]"));
  EXPECT_THAT(error, HasSubstr("cast"));
}

TEST(AnyTile, StoreOfAnotherDtypeIsRefused) {
  EXPECT_THAT(
      error_of([] { recorded([](Ptr<f16> p) { store(AnyPtr(p), zeros(DType::f32, {})); }); }),
      HasSubstr("wanted f16 to store through ptr<f16>, found f32"));
  EXPECT_NE(error_of([] { recorded([](Ptr<const f32> p) { store(AnyPtr(p), 1); }); }), "");
}

TEST(AnyTile, TypedFaceChecksWhatItIsGiven) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32>) { static_cast<void>(Tile<f32, 8>(zeros(DType::f32, {4}))); });
              }),
              HasSubstr("wanted a f32[8], found a f32[4]"));
}

TEST(AnyTile, AxesOutOfRangeAreRefused) {
  const auto with = [](auto use) {
    return error_of([&] { recorded([&](Ptr<f32>) { use(zeros(DType::f32, {8, 4})); }); });
  };
  EXPECT_THAT(with([](const AnyTile& x) { static_cast<void>(sum(x, 2)); }),
              HasSubstr("wanted an axis of f32[8x4], found 2"));
  EXPECT_EQ(with([](const AnyTile& x) { static_cast<void>(sum(x, -2)); }), "");
  EXPECT_THAT(with([](const AnyTile& x) { static_cast<void>(argmax(x, -3)); }),
              HasSubstr("argmax"));
  EXPECT_THAT(with([](const AnyTile& x) { static_cast<void>(x.extent(2)); }),
              HasSubstr("extent of axis 2"));
  EXPECT_THAT(with([](const AnyTile& x) { static_cast<void>(expand_dims(x, 4)); }),
              HasSubstr("from -3 to 2"));
}

TEST(Trace, OperatorsOutsideOfAKernelAreAUsageError) {
  try {
    static_cast<void>(program_id(0));
    FAIL() << "recorded outside of a kernel";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("no kernel is being recorded"));
  }
}

TEST(Trace, TilesOfAnotherKernelAreRefused) {
  std::optional<Int> kept;
  recorded([&](Ptr<f32>) { kept = program_id(0); });
  EXPECT_THAT(error_of([&] { recorded([&](Ptr<f32> p) { store(p + *kept, 1); }); }),
              HasSubstr("a tile of one kernel is used while another is being recorded"));
}

TEST(Trace, AKernelThatFailedLeavesNothingBehind) {
  EXPECT_NE(error_of([] { recorded([](Ptr<u8> p) { store(p, 1000); }); }), "");
  EXPECT_FALSE(lang::in_trace());
  EXPECT_EQ(error_of([] { recorded([](Ptr<u8> p) { store(p, 100); }); }), "");
}

TEST(Trace, KernelsMayBeRecordedWhileAnotherIs) {
  EXPECT_TRUE(same_kernel(
      [](Ptr<f32> p) {
        recorded([](Ptr<i32> q) { store(q, 7); });
        store(p, 1);
      },
      [](Ptr<f32> p) { store(p, 1); }));
}

}  // namespace
