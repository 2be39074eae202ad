// Reductions, loops, branches, matrix products.

#include <algorithm>
#include <functional>

#include "tests/lang/record_support.hpp"

namespace {

using namespace teeny;
using namespace teeny::test;
using testing::HasSubstr;

TEST(Reduce, TakesAwayItsAxis) {
  recorded([](Ptr<f32>) {
    const auto x = zeros<f32, 8, 4>();
    static_assert(std::is_same_v<decltype(sum<0>(x)), Tile<f32, 4>>);
    static_assert(std::is_same_v<decltype(max<-1>(x)), Tile<f32, 8>>);
    static_assert(std::is_same_v<decltype(argmin<1>(x)), Tile<i32, 8>>);
    static_assert(std::is_same_v<decltype(min(x)), Scalar<f32>>);
    EXPECT_EQ((sum<0>(x).any().type()), (Tile<f32, 4>::type()));
    EXPECT_EQ((argmax<1>(x).any().type()), (Tile<i32, 8>::type()));
    EXPECT_EQ(sum(x).any().type(), Scalar<f32>::type());
  });
}

TEST(Reduce, TakesAnyFunction) {
  const auto by_hand = [](Ptr<f32> p) {
    const auto x = load(p + arange<64>());
    store(p, reduce<0>(x, [](Scalar<f32> a, Scalar<f32> b) { return a + b; }));
  };
  EXPECT_TRUE(same_kernel(by_hand, [](Ptr<f32> p) { store(p, sum<0>(load(p + arange<64>()))); }));
  EXPECT_TRUE(same_kernel(by_hand, [](Ptr<f32> p) {
    store(p,
          reduce(load(AnyPtr(p) + arange(0, 64)), 0, [](AnyTile a, AnyTile b) { return a + b; }));
  }));
}

TEST(Reduce, TakesSeveralTilesAtOnce) {
  recorded([](Ptr<f32> p, Ptr<i32> q) {
    const auto x = load(p + arange<64>());
    const auto [best, where_best] =
        reduce<0>(std::tuple(x, arange<64>()), [](auto left, auto right) {
          const auto [a, i] = left;
          const auto [b, j] = right;
          const auto first = (a < b) | ((a == b) & (i < j));
          return std::tuple(where(first, a, b), where(first, i, j));
        });
    static_assert(std::is_same_v<decltype(best), const Scalar<f32>>);
    static_assert(std::is_same_v<decltype(where_best), const Int>);
    store(p, best);
    store(q, where_best);
  });
}

TEST(Reduce, SumsHalvesInF32) {
  const std::string all = text([](Ptr<f16> p) { store(p, sum(load(p + arange<64>()))); });
  EXPECT_THAT(all, HasSubstr("cast %4 : f32[64]"));
  EXPECT_THAT(all, HasSubstr("(%7: f32, %8: f32)"));
  EXPECT_THAT(text([](Ptr<f16> p) { store(p, max(load(p + arange<64>()))); }),
              testing::Not(HasSubstr("= cast")));
}

TEST(Reduce, RefusesWhatNeedsMoreThanTwoScalars) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32> p) {
                  store(p, reduce<0>(load(p + arange<64>()),
                                     [&](auto a, auto b) { return a + b * load(p); }));
                });
              }),
              HasSubstr("its region may not hold load"));
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32> p) {
                  store(p, reduce(load(AnyPtr(p) + arange(0, 4)), 0,
                                  [](AnyTile a, AnyTile b) { return cast(a + b, DType::f64); }));
                });
              }),
              HasSubstr("wanted (f32), found (f64)"));
}

TEST(Fold, CarriesOneTileOrSeveral) {
  const auto typed = [](Ptr<const f32> in, Ptr<f32> out, Int n) {
    const auto [total, squares] =
        fold(range(0, n, 64), std::tuple(zeros<f32, 64>(), zeros<f32, 64>()),
             [&](Int i, auto s, auto q) {
               const auto x = load(in + i + arange<64>());
               return std::tuple(s + x, q + x * x);
             });
    store(out + arange<64>(), squares - total);
  };
  const auto dynamic = [](Ptr<const f32> in, Ptr<f32> out, Int n) {
    const std::vector<AnyTile> zero(2, zeros(DType::f32, {64}));
    const auto state =
        fold(range(0, AnyTile(n), 64), zero, [&](AnyTile i, const std::vector<AnyTile>& s) {
          const AnyTile x = load(AnyPtr(in) + i + arange(0, 64));
          return std::vector<AnyTile>{s[0] + x, s[1] + x * x};
        });
    store(AnyPtr(out) + arange(0, 64), state[1] - state[0]);
  };
  EXPECT_TRUE(same_kernel(typed, dynamic));
}

TEST(Fold, CarriesPointers) {
  EXPECT_THAT(text([](Ptr<const f32> in, Ptr<f32> out, Int n) {
                const auto [last, total] =
                    fold(range(n), std::tuple(in, full<f32>(0)),
                         [&](Int, auto p, auto sum) { return std::tuple(p + 1, sum + load(p)); });
                store(out, total + load(last));
              }),
              HasSubstr("ptr<const f32>, f32 ("));
}

TEST(Fold, RangesTakeTheDtypeOfTheirBounds) {
  recorded([](Ptr<f32>, Scalar<i64> n) {
    static_assert(std::is_same_v<decltype(range(0, 10)), Range<Int>>);
    static_assert(std::is_same_v<decltype(range(0, n)), Range<Scalar<i64>>>);
    static_assert(std::is_same_v<decltype(range(n, 10, 2)), Range<Scalar<i64>>>);
    static_assert(std::is_same_v<decltype(range(AnyTile(n))), Range<AnyTile>>);
    EXPECT_EQ(range(0, n).lo.dtype(), DType::i64);
    EXPECT_EQ(range(AnyTile(n)).step.dtype(), DType::i64);
  });
  EXPECT_THAT(
      error_of([] { recorded([](Ptr<f32>, Int n) { static_cast<void>(range(0, n, 0)); }); }),
      HasSubstr("a step of 1 or more, found 0"));
  EXPECT_THAT(
      error_of([] { recorded([](Ptr<f32>, Int n) { static_cast<void>(range(n, 0, -1)); }); }),
      HasSubstr("found -1"));
}

TEST(Fold, AValueOfItsBodyUsedOutsideIsRefused) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32> p, Int n) {
                  auto x = load(p);
                  for_each(range(n), [&](Int) { x = x + 1; });
                  store(p, x);
                });
              }),
              HasSubstr("exists only there"));
}

TEST(Fold, BodyThatChangesTheTypeIsRefused) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32>, Int n) {
                  static_cast<void>(fold(range(n), zeros(DType::f32, {4}),
                                         [](Int, AnyTile x) { return cast(x, DType::f16); }));
                });
              }),
              HasSubstr("what the body of a fold returns: wanted (f32[4]), found (f16[4])"));
}

TEST(If, ReturnsWhatBothBranchesReturn) {
  const std::string all = text([](Ptr<f32> p, Scalar<bool> flag) {
    const auto x = load(p);
    const auto [a, b] = if_(
        flag, [&] { return std::tuple(x, program_id(0)); },
        [&] { return std::tuple(x * 2, program_id(1)); });
    store(p + b, a);
    if_(a > 0, [&] { store(p, 1); });
  });
  EXPECT_THAT(all, HasSubstr("= if %1 : f32, i32 {"));
  EXPECT_THAT(all, HasSubstr("} else {"));
}

TEST(If, RefusesATileOfConditions) {
  EXPECT_THAT(
      error_of([] { recorded([](Ptr<f32> p) { if_(arange(0, 4) < 2, [&] { store(p, 1); }); }); }),
      HasSubstr("if_ wants one bool, found bool[4]"));
}

TEST(Dot, SumsInTheWideType) {
  recorded([](Ptr<f32>) {
    const auto h = zeros<f16, 32, 16>();
    static_assert(std::is_same_v<decltype(dot(h, trans(h))), Tile<f32, 32, 32>>);
    static_assert(
        std::is_same_v<decltype(dot(zeros<i8, 16, 16>(), zeros<i8, 16, 64>())), Tile<i32, 16, 64>>);
    static_assert(std::is_same_v<decltype(dot(zeros<f64, 16, 16>(), zeros<f64, 16, 16>())),
                                 Tile<f64, 16, 16>>);
    EXPECT_EQ(dot(h, trans(h)).any().type(), (Tile<f32, 32, 32>::type()));
  });
  EXPECT_THAT(text([](Ptr<f32> p) {
                const auto x = zeros<f32, 16, 16>();
                store(p, sum(dot(x, x, x, {.precision = Precision::tf32})));
              }),
              HasSubstr("tf32"));
}

TEST(Dot, MismatchOfAnyTilesNamesBoth) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<f32>) {
                  static_cast<void>(dot(zeros(DType::f16, {64, 32}), zeros(DType::f16, {64, 32})));
                });
              }),
              testing::AllOf(HasSubstr("f16[64x32]"), HasSubstr("[M, K]")));
}

// One function for every dtype and tile size, its last step chosen when the kernel is recorded.
void matmul(const AnyView& a, const AnyView& b, const AnyView& c, const Int& k, const Shape& tile,
            std::int64_t depth, const std::function<AnyTile(AnyTile)>& epilogue) {
  const Int row = program_id(1) * tile[0];
  const Int column = program_id(0) * tile[1];
  const DType dtype = a.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const AnyTile product = fold(range(0, k, depth), zeros(dtype, tile), [&](Int i, AnyTile sum) {
    return dot(load(a, {row, i}, {tile[0], depth}), load(b, {i, column}, {depth, tile[1]}), sum);
  });
  store(c, {row, column}, cast(epilogue(product), c.dtype()));
}

TEST(AnyTile, OneMatmulForDtypesTilesAndEpilogues) {
  std::vector<std::string> fingerprints;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    for (const Shape& tile : {Shape{16, 16}, Shape{32, 16}, Shape{64, 64}, Shape{128, 64}}) {
      for (const bool relu : {false, true}) {
        const std::vector<ir::Type> signature = {ir::Type::pointer_to(dtype, true),
                                                 ir::Type::pointer_to(dtype, true),
                                                 ir::Type::pointer_to(dtype),
                                                 Int::type(),
                                                 Int::type(),
                                                 Int::type()};
        const ir::Kernel kernel =
            lang::record_kernel("matmul", signature, {}, [&](const lang::Tiles& p) {
              const Int m(p[3]);
              const Int n(p[4]);
              const Int k(p[5]);
              matmul(view(p[0], {m, k}), view(p[1], {k, n}), view(p[2], {m, n}), k, tile, 32,
                     [&](AnyTile x) { return relu ? maximum(x, 0) : x; });
            });
        fingerprints.push_back(ir::fingerprint(kernel));
        EXPECT_EQ(ir::print(kernel).find("maximum") != std::string::npos, relu);
      }
    }
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  EXPECT_EQ(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  EXPECT_EQ(fingerprints.size(), 24U);
}

}  // namespace
