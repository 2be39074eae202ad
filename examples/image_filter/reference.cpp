#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {

/// One f64 plane whose reads outside the image take the nearest pixel.
struct Plane {
  int height, width;
  std::vector<double> values;
  Plane(int h, int w)
      : height(h), width(w), values(static_cast<std::size_t>(h) * static_cast<std::size_t>(w)) {}
  double& at(int y, int x) {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
  [[nodiscard]] double near(int y, int x) const {
    const auto row = static_cast<std::size_t>(std::clamp(y, 0, height - 1));
    return values[row * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(std::clamp(x, 0, width - 1))];
  }
};

Plane blur(const Plane& in, int dy, int dx) {
  constexpr double taps[5] = {1, 4, 6, 4, 1};
  Plane out(in.height, in.width);
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      double sum = 0;
      double weight = 0;
      for (int tap = 0; tap < 5; ++tap) {
        const int v = y + dy * (tap - 2);
        const int u = x + dx * (tap - 2);
        if (v < 0 || v >= in.height || u < 0 || u >= in.width) continue;
        sum += taps[tap] * in.near(v, u);
        weight += taps[tap];
      }
      out.at(y, x) = sum / weight;
    }
  }
  return out;
}

Plane edges_of(const std::vector<Plane>& planes) {
  Plane grey(planes[0].height, planes[0].width);
  for (std::size_t i = 0; i < grey.values.size(); ++i) {
    grey.values[i] =
        0.299 * planes[0].values[i] + 0.587 * planes[1].values[i] + 0.114 * planes[2].values[i];
  }
  Plane edges(grey.height, grey.width);
  for (int y = 0; y < grey.height; ++y) {
    for (int x = 0; x < grey.width; ++x) {
      double across = 0;
      double down = 0;
      for (int k = -1; k <= 1; ++k) {
        const double weight = k == 0 ? 2.0 : 1.0;
        across += weight * (grey.near(y + k, x + 1) - grey.near(y + k, x - 1));
        down += weight * (grey.near(y + 1, x + k) - grey.near(y - 1, x + k));
      }
      edges.at(y, x) = std::min(std::sqrt(across * across + down * down), 1.0);
    }
  }
  return edges;
}

}  // namespace

Picture filter_reference(const Picture& photo) {
  std::vector<Plane> sharp(3, Plane(photo.height, photo.width));
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < sharp[channel].values.size(); ++i)
      sharp[channel].values[i] = photo.pixels[3 * i + channel] / 255.0;
  }
  std::vector<Plane> soft;
  for (const Plane& plane : sharp) soft.push_back(blur(blur(plane, 0, 1), 1, 0));
  const Plane edges = edges_of(soft);
  Picture out{photo.height, photo.width, std::vector<std::uint8_t>(photo.pixels.size())};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < edges.values.size(); ++i) {
      const double detail =
          soft[channel].values[i] + (sharp[channel].values[i] - soft[channel].values[i]) * 1.5;
      const double curved = 1.0 / (1.0 + std::exp(-(detail - 0.5) * 6.0));
      const double ink = 1.0 - std::clamp((edges.values[i] - 0.25) * 1.6, 0.0, 0.85);
      out.pixels[3 * i + channel] =
          static_cast<std::uint8_t>(std::floor(std::clamp(curved * ink, 0.0, 1.0) * 255.0 + 0.5));
    }
  }
  return out;
}

int largest_difference(const Picture& a, const Picture& b) {
  if (a.height != b.height || a.width != b.width || a.pixels.size() != b.pixels.size()) return 256;
  int worst = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    worst = std::max(worst, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  return worst;
}
