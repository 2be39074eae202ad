#pragma once

#include "teeny/teeny.hpp"

/// The kernels of image_filter: a photograph becomes a picture with smooth tones and inked edges.
/// Planes are f32[3][height][width] in [0, 1], dense and row-major; tiles stick out over the edges
/// of the image and are padded by the view, so no size is special.
namespace filter {

using teeny::f32;
using teeny::Int;
using teeny::Ptr;
using teeny::u8;

inline constexpr int tile_height = 8;
inline constexpr int tile_width = 64;

/// u8[height][width][3] -> planes. A channel of an interleaved picture is a view with a stride
/// of 3.
struct Unpack {
  void operator()(Ptr<const u8> pixels, Ptr<f32> planes, Int height, Int width) const {
    using namespace teeny;
    auto column = program_id(0) * tile_width;
    auto row = program_id(1) * tile_height;
    auto channel = program_id(2);
    auto from = view(pixels + channel, {height, width}, {width * 3, 3});
    auto to = view(planes + channel * height * width, {height, width});
    auto value = cast<f32>(load<tile_height, tile_width>(from, {row, column}));
    store(to, {row, column}, value * (1.0f / 255.0f));
  }
};

/// One direction of a 5-tap binomial blur, normalised by the weights that lie inside the image:
/// each tap is the same tile at another, overlapping, offset.
template <bool Rows>
struct Blur {
  void operator()(Ptr<const f32> in, Ptr<f32> out, Int height, Int width) const {
    using namespace teeny;
    auto column = program_id(0) * tile_width;
    auto row = program_id(1) * tile_height;
    auto plane = program_id(2) * height * width;
    auto from = view(in + plane, {height, width});
    auto along =
        Rows ? column + broadcast_to<tile_height, tile_width>(arange<tile_width>())
             : row + broadcast_to<tile_height, tile_width>(expand_dims<1>(arange<tile_height>()));
    auto extent = Rows ? width : height;
    constexpr float taps[5] = {1.0f, 4.0f, 6.0f, 4.0f, 1.0f};
    auto sum = zeros<f32, tile_height, tile_width>();
    auto weight = zeros<f32, tile_height, tile_width>();
    for (int tap = 0; tap < 5; ++tap) {
      const int step = tap - 2;
      auto value = Rows ? load<tile_height, tile_width>(from, {row, column + step})
                        : load<tile_height, tile_width>(from, {row + step, column});
      auto at = along + step;
      auto inside = (at >= 0) & (at < extent);
      sum = sum + value * taps[tap];
      weight = weight + where(inside, full<f32, tile_height, tile_width>(taps[tap]), 0.0f);
    }
    store(view(out + plane, {height, width}), {row, column}, sum / maximum(weight, 1.0f));
  }
};

/// Strength of edges, f32[height][width] in [0, 1]: Sobel's gradient of the brightness of blurred
/// planes.
struct Edges {
  void operator()(Ptr<const f32> planes, Ptr<f32> edges, Int height, Int width) const {
    using namespace teeny;
    auto column = program_id(0) * tile_width;
    auto row = program_id(1) * tile_height;
    // At the border the image is continued by its own edge: the offset is clamped, not the value.
    auto brightness = [&](int down, int right) {
      auto y = clamp(
          row + broadcast_to<tile_height, tile_width>(expand_dims<1>(arange<tile_height>())) + down,
          0, height - 1);
      auto x = clamp(column + broadcast_to<tile_height, tile_width>(arange<tile_width>()) + right,
                     0, width - 1);
      auto at = y * width + x;
      auto red = load(planes + at);
      auto green = load(planes + height * width + at);
      auto blue = load(planes + 2 * height * width + at);
      return red * 0.299f + green * 0.587f + blue * 0.114f;
    };
    auto nw = brightness(-1, -1), n = brightness(-1, 0), ne = brightness(-1, 1);
    auto w = brightness(0, -1), e = brightness(0, 1);
    auto sw = brightness(1, -1), s = brightness(1, 0), se = brightness(1, 1);
    auto across = (ne + e * 2.0f + se) - (nw + w * 2.0f + sw);
    auto down = (sw + s * 2.0f + se) - (nw + n * 2.0f + ne);
    auto strength = sqrt(across * across + down * down);
    store(view(edges, {height, width}), {row, column}, minimum(strength, 1.0f));
  }
};

/// Sharpen, raise contrast along an S-curve, and ink the edges: planes, their blurred form and the
/// edges -> u8[height][width][3].
struct Tone {
  void operator()(Ptr<const f32> planes, Ptr<const f32> blurred, Ptr<const f32> edges,
                  Ptr<u8> pixels, Int height, Int width) const {
    using namespace teeny;
    auto column = program_id(0) * tile_width;
    auto row = program_id(1) * tile_height;
    auto channel = program_id(2);
    auto plane = channel * height * width;
    auto sharp =
        load<tile_height, tile_width>(view(planes + plane, {height, width}), {row, column});
    auto soft =
        load<tile_height, tile_width>(view(blurred + plane, {height, width}), {row, column});
    auto edge = load<tile_height, tile_width>(view(edges, {height, width}), {row, column});
    auto detail = soft + (sharp - soft) * 1.5f;
    auto curved = sigmoid((detail - 0.5f) * 6.0f);
    auto ink = 1.0f - clamp((edge - 0.25f) * 1.6f, 0.0f, 0.85f);
    auto value = floor(clamp(curved * ink, 0.0f, 1.0f) * 255.0f + 0.5f);
    store(view(pixels + channel, {height, width}, {width * 3, 3}), {row, column}, cast<u8>(value));
  }
};

}  // namespace filter
