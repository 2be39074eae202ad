#pragma once

#include "teeny/base/dtype.hpp"

namespace teeny {

/// How many programs of a kernel are launched along each axis.
struct Grid {
  i64 x = 1;
  i64 y = 1;
  i64 z = 1;

  [[nodiscard]] constexpr i64 count() const noexcept { return x * y * z; }
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// `grid(cdiv(n, 1024))`, `grid(columns, rows)`. Limits, the same on every device and checked at
/// the launch: 1 to 2^31 - 1 along x, 1 to 65,535 along y and z.
[[nodiscard]] constexpr Grid grid(i64 x, i64 y = 1, i64 z = 1) noexcept { return {x, y, z}; }

}  // namespace teeny
