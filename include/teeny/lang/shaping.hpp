#pragma once

// Other shapes of the same elements.

#include "teeny/lang/operators.hpp"

namespace teeny {

/// x repeated to the extents E, as NumPy broadcasts.
template <int... E, class T, int... F>
[[nodiscard]] Tile<T, E...> broadcast_to(const Tile<T, F...>& x) {
  lang::check_broadcasts_to<extents<F...>, extents<E...>>();
  return Tile<T, E...>(lang::Trusted{},
                       lang::broadcast_up(x.any(), lang::shape_of(extents<E...>{})));
}
template <int... E, class T, int... F>
[[nodiscard]] Ptr<T, E...> broadcast_to(const Ptr<T, F...>& x) {
  lang::check_broadcasts_to<extents<F...>, extents<E...>>();
  return Ptr<T, E...>(lang::Trusted{},
                      lang::broadcast_up(x.any(), lang::shape_of(extents<E...>{})));
}
[[nodiscard]] inline AnyTile broadcast_to(const AnyTile& x, const Shape& shape) {
  return lang::broadcast_up(x, shape);
}

/// An axis of extent 1 before axis `Axis` of x; -1 appends one. expand_dims<1>(i) makes i a column,
/// expand_dims<0>(i) a row.
template <int Axis, class X>
  requires(lang::StaticTile<X> || lang::StaticPtr<X>)
[[nodiscard]] auto expand_dims(const X& x) {
  using From = typename X::shape;
  constexpr int rank = lang::dims_of(From{}).rank;
  constexpr int axis = Axis < 0 ? Axis + rank + 1 : Axis;
  static_assert(axis >= 0 && axis <= rank, "expand_dims wants an axis from -rank - 1 to rank");
  using To = typename lang::WithOneAt<From, axis>::type;
  if constexpr (lang::StaticPtr<X>) {
    return lang::ptr_of<typename X::element, To>(lang::Trusted{}, lang::insert_axis(x.any(), axis));
  } else {
    return lang::tile_of<typename X::element, To>(lang::Trusted{},
                                                  lang::insert_axis(x.any(), axis));
  }
}
[[nodiscard]] inline AnyTile expand_dims(const AnyTile& x, int axis) {
  return lang::insert_axis(x, axis);
}

/// The elements of x in row-major order in other extents.
template <int... E, class T, int... F>
[[nodiscard]] Tile<T, E...> reshape(const Tile<T, F...>& x) {
  if constexpr (lang::count(lang::dims_of(extents<E...>{})) !=
                lang::count(lang::dims_of(extents<F...>{}))) {
    static_assert(sizeof(reshape_changes_the_number_of_elements<extents<F...>, extents<E...>>) !=
                  0);
  }
  return Tile<T, E...>(lang::Trusted{}, lang::reshape_to(x.any(), lang::shape_of(extents<E...>{})));
}
[[nodiscard]] inline AnyTile reshape(const AnyTile& x, const Shape& shape) {
  return lang::reshape_to(x, shape);
}

namespace lang {

template <class From, int... D>
struct Permuted {
  static constexpr Dims compute() {
    constexpr Dims from = dims_of(From{});
    constexpr int dims[] = {D...};
    Dims result;
    bool seen[Dims::max_rank] = {};
    result.ok = sizeof...(D) == static_cast<std::size_t>(from.rank);
    for (const int d : dims) {
      if (d < 0 || d >= from.rank || seen[d]) {
        result.ok = false;
        continue;
      }
      seen[d] = true;
      result.extent[result.rank++] = from.extent[d];
    }
    return result;
  }
  static constexpr Dims value = compute();
  static_assert(value.ok, "permute wants each axis of the tile once: permute<1, 0>(x)");
  using type = typename AsExtents<Permuted>::type;
};

}  // namespace lang

/// Axis d of the result is axis D[d] of x.
template <int... D, class T, int... F>
[[nodiscard]] auto permute(const Tile<T, F...>& x) {
  using To = typename lang::Permuted<extents<F...>, D...>::type;
  return lang::tile_of<T, To>(lang::Trusted{}, lang::permute_axes(x.any(), {D...}));
}
[[nodiscard]] inline AnyTile permute(const AnyTile& x, const std::vector<int>& dims) {
  return lang::permute_axes(x, dims);
}

/// Rows and columns exchanged.
template <class T, int M, int N>
[[nodiscard]] Tile<T, N, M> trans(const Tile<T, M, N>& x) {
  return Tile<T, N, M>(lang::Trusted{}, lang::permute_axes(x.any(), {1, 0}));
}
[[nodiscard]] inline AnyTile trans(const AnyTile& x) { return lang::permute_axes(x, {1, 0}); }

}  // namespace teeny
