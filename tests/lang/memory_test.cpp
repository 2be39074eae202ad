// Loads and stores, by pointer and by view.

#include "tests/lang/record_support.hpp"

namespace {

using namespace teeny;
using namespace teeny::test;
using testing::HasSubstr;
using testing::Not;

TEST(Load, OptionsAreNamed) {
  const std::string all = text([](Ptr<const f32> p, Int n) {
    const auto i = arange<8>();
    static_cast<void>(load(p + i, {.mask = i < n, .other = -1, .cache = CacheHint::streaming}));
  });
  EXPECT_THAT(all, HasSubstr("cache=streaming"));
  EXPECT_THAT(all, HasSubstr("bits=0xbf800000 : f32[8]"));
}

TEST(Load, MaskAndOtherBroadcastToThePointers) {
  const auto short_form = [](Ptr<const f32> p, Scalar<bool> all) {
    const auto at = p + reshape<4, 8>(arange<32>());
    static_cast<void>(load(at, {.mask = arange<8>() < 3, .other = load(p)}));
    static_cast<void>(load(at, all));
  };
  EXPECT_EQ(error_of([&] { recorded(short_form); }), "");
  EXPECT_THAT(
      error_of([] {
        recorded([](Ptr<const f32> p) { static_cast<void>(load(AnyPtr(p), arange(0, 4) < 2)); });
      }),
      HasSubstr("wanted something that broadcasts to []"));
}

TEST(Load, OtherWithoutMaskIsRefused) {
  EXPECT_THAT(error_of([] {
                recorded([](Ptr<const f32> p) { static_cast<void>(load(p, {.other = 1})); });
              }),
              HasSubstr("there is no mask"));
}

TEST(Store, BroadcastsItsValue) {
  EXPECT_THAT(text([](Ptr<f32> p, Int n) {
                const auto i = arange<8>();
                store(p + i, 2, i < n);
                store(p + i, load(p), {.mask = i < n, .cache = CacheHint::streaming});
              }),
              HasSubstr("cache=streaming"));
}

TEST(View, StridesAreRowMajorWhenLeftOut) {
  EXPECT_TRUE(same_kernel(
      [](Ptr<f32> p, Int d, Int h, Int w) {
        store(view(p, {d, h, w}), {0, 0, 0}, zeros<f32, 1, 8, 8>());
      },
      [](Ptr<f32> p, Int d, Int h, Int w) {
        const auto row = cast<i64>(w);
        store(view(p, {d, h, w}, {row * cast<i64>(h), row, 1}), {0, 0, 0}, zeros<f32, 1, 8, 8>());
      }));
}

TEST(View, IndicesAreWidenedBeforeTheyAreMultiplied) {
  const std::string all = text([](Ptr<f32> p, Int h, Int w) {
    store(view(p, {h, h, w}), {program_id(1), i64{1} << 40, 0}, zeros<f32, 1, 8, 8>());
  });
  EXPECT_THAT(all, Not(HasSubstr("mul %1, %2")));
  EXPECT_THAT(all, HasSubstr("bits=0x10000000000 : i64"));
  EXPECT_THAT(
      error_of([] {
        recorded([](Ptr<f32> p) { static_cast<void>(view(AnyPtr(p), {zeros(DType::f32, {})})); });
      }),
      HasSubstr("is one integer, found f32"));
}

TEST(View, TypedAndDynamicRecordTheSame) {
  EXPECT_TRUE(same_kernel(
      [](Ptr<const f16> in, Ptr<f16> out, Int n) {
        const auto from = view(in, {n, 64}, {128, 2});
        store(view(out, {n, 64}), {program_id(0), -3},
              load<4, 16>(from, {program_id(0), 5}, {.padding = 1}));
      },
      [](Ptr<const f16> in, Ptr<f16> out, Int n) {
        const AnyView from = view(AnyPtr(in), {n, 64}, {128, 2});
        const AnyTile tile = load(from, {program_id(0), 5}, {4, 16}, {.padding = 1});
        store(view(AnyPtr(out), {n, 64}), {program_id(0), -3}, tile);
      }));
}

TEST(View, RanksMustAgree) {
  const auto with = [](auto use) {
    return error_of([&] { recorded([&](Ptr<f32> p) { use(view(AnyPtr(p), {8, 8})); }); });
  };
  EXPECT_THAT(with([](const AnyView& v) { static_cast<void>(load(v, {0, 0}, {4})); }),
              HasSubstr("a view of 2 axes wants as many extents of the tile, found 1"));
  EXPECT_THAT(with([](const AnyView& v) { static_cast<void>(load(v, {0}, {4, 4})); }),
              HasSubstr("wants as many offsets, found 1"));
  EXPECT_THAT(with([](const AnyView& v) { store(v, {0, 0}, zeros(DType::f16, {4, 4})); }),
              HasSubstr("wanted a tile of f32 for this view, found f16[4x4]"));
}

// Pain P48: each of the four things a user of tiles asks for first has a page and works.

TEST(P48, StridedTwoDimensionalMemoryIsOneView) {
  const std::string all =
      text([](Ptr<const u8> image, Ptr<u8> out, Int height, Int width, Int pitch) {
        const auto rows = view(image, {height, width}, {pitch, 1});
        store(view(out, {height, width}), {0, 0}, load<8, 64>(rows, {0, 0}));
      });
  EXPECT_THAT(all, HasSubstr(": u8[8x64]"));
  EXPECT_THAT(all, HasSubstr("cast %4 : i64"));
}

TEST(P48, ATileLiesAtAnyOffsetAndMayOverlapOthers) {
  EXPECT_EQ(error_of([] {
              recorded([](Ptr<const f32> in, Ptr<f32> out, Int n) {
                const auto from = view(in, {n});
                const auto at = program_id(0) * 64;
                const auto left = load<64>(from, {at - 1});
                const auto right = load<64>(from, {at + 1});
                store(view(out, {n}), {at}, (right - left) * 0.5f);
              });
            }),
            "");
}

TEST(P48, ElementsOverTheEdgesGetThePadding) {
  EXPECT_THAT(text([](Ptr<const f32> in, Ptr<f32> out, Int h, Int w) {
                const auto tile = load<4, 4>(view(in, {h, w}), {-1, -1}, {.padding = -infinity});
                store(view(out, {h, w}), {0, 0}, tile);
              }),
              HasSubstr("bits=0xff800000 : f32[4x4]"));
}

TEST(P48, TheInnerPartOfATileIsSelectedByMask) {
  EXPECT_EQ(error_of([] {
              recorded([](Ptr<const f32> in, Ptr<f32> out, Int n) {
                const auto i = arange<64>();
                const auto tile = load<64>(view(in, {n}), {program_id(0) * 62 - 1});
                const auto inner = (i >= 1) & (i < 63);
                const auto at = program_id(0) * 62 - 1 + i;
                store(out + at, tile, inner & (at < n));
              });
            }),
            "");
}

}  // namespace
