#pragma once

// An axis combined away.

#include <functional>
#include <tuple>

#include "teeny/lang/state.hpp"

namespace teeny {

namespace lang {

template <class X, int Axis>
struct Reduced {
  static constexpr int rank = dims_of(typename X::shape{}).rank;
  static constexpr int axis = Axis < 0 ? Axis + rank : Axis;
  static_assert(axis >= 0 && axis < rank,
                "there is no such axis: a tile of rank R has 0 to R - 1, and -1 is the last");
  using shape = typename Without<typename X::shape, axis>::type;
  template <class T>
  using tile = tile_of<T, shape>;
};

template <int Axis, class X>
auto reduce_numbers(ir::Opcode code, const X& x) {
  static_assert(!std::is_same_v<typename X::element, bool>,
                "a reduction wants numbers: sum<Axis>(cast<i32>(mask)) counts a mask");
  using R = Reduced<X, Axis>;
  return typename R::template tile<typename X::element>(Trusted{},
                                                        reduce_axis(code, x.any(), R::axis));
}

template <int Axis, class X>
auto find_extreme(const X& x, bool largest) {
  static_assert(!std::is_same_v<typename X::element, bool>, "wanted numbers: cast<i32>(mask)");
  using R = Reduced<X, Axis>;
  return typename R::template tile<i32>(Trusted{}, index_of_extreme(x.any(), R::axis, largest));
}

}  // namespace lang

/// x without axis `Axis` (-1 the last): its elements combined by `combine(Scalar<T>, Scalar<T>)`,
/// an associative and commutative function, in an order that each device chooses.
template <int Axis, class T, int... E, class F>
[[nodiscard]] auto reduce(const Tile<T, E...>& x, F&& combine) {
  using R = lang::Reduced<Tile<T, E...>, Axis>;
  static_assert(std::is_same_v<std::invoke_result_t<F&, Scalar<T>, Scalar<T>>, Scalar<T>>,
                "the function given to reduce must return a scalar of the tile's dtype");
  const auto region = [&](const lang::Tiles& left, const lang::Tiles& right) {
    return lang::Tiles{
        combine(Scalar<T>(lang::Trusted{}, left[0]), Scalar<T>(lang::Trusted{}, right[0])).any()};
  };
  return typename R::template tile<T>(lang::Trusted{},
                                      lang::reduce_axis(lang::Tiles{x.any()}, R::axis, region)[0]);
}

/// The same over several tiles of one shape at once, as a std::tuple: `combine` gets a tuple of
/// scalars from the left and one from the right, and returns such a tuple.
template <int Axis, class First, class... Rest, class F>
[[nodiscard]] auto reduce(const std::tuple<First, Rest...>& tiles, F&& combine) {
  static_assert((std::is_same_v<typename First::shape, typename Rest::shape> && ...),
                "reduce wants tiles of one shape: broadcast_to<E...>(x)");
  using R = lang::Reduced<First, Axis>;
  using Scalars = std::tuple<Scalar<typename First::element>, Scalar<typename Rest::element>...>;
  static_assert(std::is_same_v<std::invoke_result_t<F&, Scalars, Scalars>, Scalars>,
                "the function given to reduce must return a tuple of scalars of the tiles' dtypes");
  using Results = std::tuple<typename R::template tile<typename First::element>,
                             typename R::template tile<typename Rest::element>...>;
  using In = lang::State<Scalars>;
  const auto region = [&](const lang::Tiles& left, const lang::Tiles& right) {
    return In::flatten(combine(In::rebuild(left), In::rebuild(right)));
  };
  return lang::State<Results>::rebuild(
      lang::reduce_axis(lang::State<std::tuple<First, Rest...>>::flatten(tiles), R::axis, region));
}

/// The same with the axis known while recording.
[[nodiscard]] inline AnyTile reduce(const AnyTile& x, int axis,
                                    const std::function<AnyTile(AnyTile, AnyTile)>& combine) {
  return lang::reduce_axis(lang::Tiles{x}, axis,
                           [&](const lang::Tiles& left, const lang::Tiles& right) {
                             return lang::Tiles{combine(left[0], right[0])};
                           })[0];
}

/// The sum along `Axis`, in x's dtype (f16 and bf16 are summed in f32 and rounded once).
template <int Axis, class T, int... E>
[[nodiscard]] auto sum(const Tile<T, E...>& x) {
  return lang::reduce_numbers<Axis>(ir::Opcode::add, x);
}
/// The largest and the smallest element along `Axis`; NaN if there is one.
template <int Axis, class T, int... E>
[[nodiscard]] auto max(const Tile<T, E...>& x) {
  return lang::reduce_numbers<Axis>(ir::Opcode::maximum, x);
}
template <int Axis, class T, int... E>
[[nodiscard]] auto min(const Tile<T, E...>& x) {
  return lang::reduce_numbers<Axis>(ir::Opcode::minimum, x);
}
/// Where along `Axis` the largest or smallest element is, as i32: the first of equals; the first
/// NaN if there is one.
template <int Axis, class T, int... E>
[[nodiscard]] auto argmax(const Tile<T, E...>& x) {
  return lang::find_extreme<Axis>(x, true);
}
template <int Axis, class T, int... E>
[[nodiscard]] auto argmin(const Tile<T, E...>& x) {
  return lang::find_extreme<Axis>(x, false);
}

/// Over all axes: a scalar.
#define TEENY_REDUCE_ALL(NAME, CODE)                                                        \
  template <class T, int... E>                                                              \
  [[nodiscard]] Scalar<T> NAME(const Tile<T, E...>& x) {                                    \
    static_assert(!std::is_same_v<T, bool>, "wanted numbers: cast<i32>(mask)");             \
    return Scalar<T>(lang::Trusted{}, lang::reduce_all(CODE, x.any()));                     \
  }                                                                                         \
  [[nodiscard]] inline AnyTile NAME(const AnyTile& x) { return lang::reduce_all(CODE, x); } \
  [[nodiscard]] inline AnyTile NAME(const AnyTile& x, int axis) {                           \
    return lang::reduce_axis(CODE, x, axis);                                                \
  }
TEENY_REDUCE_ALL(sum, ir::Opcode::add)
TEENY_REDUCE_ALL(max, ir::Opcode::maximum)
TEENY_REDUCE_ALL(min, ir::Opcode::minimum)
#undef TEENY_REDUCE_ALL

[[nodiscard]] inline AnyTile argmax(const AnyTile& x, int axis) {
  return lang::index_of_extreme(x, axis, true);
}
[[nodiscard]] inline AnyTile argmin(const AnyTile& x, int axis) {
  return lang::index_of_extreme(x, axis, false);
}

}  // namespace teeny
