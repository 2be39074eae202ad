#pragma once

// Where values of a kernel come from: its place in the grid, ranges of integers, constants.

#include "teeny/lang/operators.hpp"

namespace teeny {

/// This program's position in the grid along `axis` (0 to 2), and how many there are.
[[nodiscard]] inline Int program_id(int axis) {
  return Int(lang::Trusted{}, lang::program_position(axis));
}
[[nodiscard]] inline Int num_programs(int axis) {
  return Int(lang::Trusted{}, lang::program_count(axis));
}

/// 0, 1, ..., N - 1.
template <int N>
[[nodiscard]] Tile<i32, N> arange() {
  return Tile<i32, N>(lang::Trusted{}, lang::iota(0, N));
}
/// Lo, Lo + 1, ..., Hi - 1.
template <int Lo, int Hi>
[[nodiscard]] Tile<i32, Hi - Lo> arange() {
  return Tile<i32, Hi - Lo>(lang::Trusted{}, lang::iota(Lo, Hi - Lo));
}
/// i32[hi - lo], sizes known while recording.
[[nodiscard]] inline AnyTile arange(std::int64_t lo, std::int64_t hi) {
  return lang::iota(lo, hi - lo);
}

/// `value`, a literal or a scalar, everywhere.
template <Element T, int... E, class V>
[[nodiscard]] Tile<T, E...> full(const V& value) {
  if constexpr (lang::Literal<V>) {
    static_assert(lang::literal_fits<T, V>,
                  "the value does not fit the dtype: a float only a float, a bool only a bool");
    return Tile<T, E...>(lang::Trusted{},
                         lang::constant(dtype_of<T>, lang::shape_of(extents<E...>{}), value));
  } else {
    static_assert(std::is_same_v<V, Tile<T>>,
                  "full<T, E...>(value) wants a literal or a scalar of dtype T");
    return Tile<T, E...>(lang::Trusted{},
                         lang::broadcast_up(value, lang::shape_of(extents<E...>{})));
  }
}
[[nodiscard]] inline AnyTile full(DType dtype, const Shape& shape, const lang::Operand& value) {
  if (!value.is_tile()) return lang::constant(dtype, shape, value.number());
  lang::require_type(value.tile(), ir::Type::scalar(dtype));
  return lang::broadcast_up(value.tile(), shape);
}

/// Zeros, false for bool.
template <Element T, int... E>
[[nodiscard]] Tile<T, E...> zeros() {
  if constexpr (std::is_same_v<T, bool>) {
    return full<T, E...>(false);
  } else {
    return full<T, E...>(0);
  }
}
[[nodiscard]] inline AnyTile zeros(DType dtype, const Shape& shape) {
  if (dtype == DType::boolean) return lang::constant(dtype, shape, false);
  return lang::constant(dtype, shape, 0);
}

}  // namespace teeny
