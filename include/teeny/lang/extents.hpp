#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "teeny/base/dtype.hpp"
#include "teeny/ir/type.hpp"

namespace teeny {

/// The shape of a Tile as a type, outermost first; no extents for a scalar. Appears in the
/// compiler's messages: extents<64, 32>.
template <int... E>
struct extents {};

// Never defined: a compiler that is made to look inside names it, and with it what went wrong.
template <class Left, class Right>
struct shapes_do_not_broadcast;
template <class From, class To>
struct shape_does_not_broadcast_to;
template <class From, class To>
struct reshape_changes_the_number_of_elements;
template <class A, class B>
struct dot_wants_MxK_and_KxN;
template <class Tile>
struct axis_is_outside_of_tile;

namespace lang {

/// Extents as a value, for compile-time arithmetic.
struct Dims {
  static constexpr int max_rank = 8;
  int rank = 0;
  int extent[max_rank] = {};
  bool ok = true;
};

template <int... E>
constexpr Dims dims_of(extents<E...>) {
  static_assert(sizeof...(E) <= Dims::max_rank, "a Tile has at most 8 axes");
  return Dims{static_cast<int>(sizeof...(E)), {E...}, true};
}

constexpr Dims broadcast(const Dims& a, const Dims& b) {
  Dims result;
  result.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < result.rank; ++i) {  // from the last axis
    const int left = i < a.rank ? a.extent[a.rank - 1 - i] : 1;
    const int right = i < b.rank ? b.extent[b.rank - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) result.ok = false;
    result.extent[result.rank - 1 - i] = left > right ? left : right;
  }
  return result;
}

constexpr bool same(const Dims& a, const Dims& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i) {
    if (a.extent[i] != b.extent[i]) return false;
  }
  return true;
}

constexpr Dims without(const Dims& a, int axis) {
  Dims result;
  result.ok = axis >= 0 && axis < a.rank;
  for (int i = 0; i < a.rank; ++i) {
    if (i != axis) result.extent[result.rank++] = a.extent[i];
  }
  return result;
}

constexpr Dims with_one_at(const Dims& a, int axis) {
  Dims result;
  result.ok = axis >= 0 && axis <= a.rank && a.rank < Dims::max_rank;
  for (int i = 0; i <= a.rank && result.rank < Dims::max_rank; ++i) {
    if (i == axis) result.extent[result.rank++] = 1;
    if (i < a.rank && result.rank < Dims::max_rank) result.extent[result.rank++] = a.extent[i];
  }
  return result;
}

constexpr std::int64_t count(const Dims& a) {
  std::int64_t result = 1;
  for (int i = 0; i < a.rank; ++i) result *= a.extent[i];
  return result;
}

/// Source::value, some Dims, as extents<...>.
template <class Source,
          class Index = std::make_index_sequence<static_cast<std::size_t>(Source::value.rank)>>
struct AsExtents;
template <class Source, std::size_t... I>
struct AsExtents<Source, std::index_sequence<I...>> {
  using type = extents<Source::value.extent[I]...>;
};

/// The extents that A and B broadcast to, NumPy's way.
template <class A, class B>
struct Broadcast {
  static constexpr Dims value = broadcast(dims_of(A{}), dims_of(B{}));
  using type = typename AsExtents<Broadcast>::type;
};
template <class A>
struct Broadcast<A, A> {
  static constexpr Dims value = dims_of(A{});
  using type = A;
};

/// The same, or the one compile error that names both.
template <class A, class B>
struct CheckedBroadcast {
  using pair = Broadcast<A, B>;
  template <bool Ok, class L, class R>
  static constexpr bool check() {
    if constexpr (!Ok) {
      static_assert(sizeof(shapes_do_not_broadcast<L, R>) != 0,
                    "axes are matched from the last, and each pair must be equal or hold a 1");
    }
    return true;
  }
  static_assert(check<pair::value.ok, A, B>());
  using type = typename pair::type;
};

/// Whether From broadcasts to just To; a compile error that names both if not.
template <class From, class To>
constexpr bool check_broadcasts_to() {
  if constexpr (!Broadcast<From, To>::value.ok ||
                !same(Broadcast<From, To>::value, dims_of(To{}))) {
    static_assert(sizeof(shape_does_not_broadcast_to<From, To>) != 0,
                  "axes are matched from the last, and each must be equal or 1");
  }
  return true;
}

template <class A, int Axis>
struct Without {
  static constexpr Dims value = without(dims_of(A{}), Axis);
  using type = typename AsExtents<Without>::type;
};
template <class A, int Axis>
struct WithOneAt {
  static constexpr Dims value = with_one_at(dims_of(A{}), Axis);
  using type = typename AsExtents<WithOneAt>::type;
};

template <int... E>
ir::Shape shape_of(extents<E...>) {
  return ir::Shape{static_cast<std::int64_t>(E)...};
}

}  // namespace lang
}  // namespace teeny
