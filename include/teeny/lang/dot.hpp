#pragma once

#include <optional>

#include "teeny/lang/tile.hpp"

namespace teeny {

struct DotOptions {
  /// tf32 multiplies f32 operands rounded to 10 bits of mantissa on the Tensor Cores of sm_80 and
  /// later; ieee multiplies them as they are.
  Precision precision = Precision::ieee;
};

namespace lang {

template <class T>
struct DotSum;
template <>
struct DotSum<f16> {
  using type = f32;
};
template <>
struct DotSum<bf16> {
  using type = f32;
};
template <>
struct DotSum<f32> {
  using type = f32;
};
template <>
struct DotSum<f64> {
  using type = f64;
};
template <>
struct DotSum<i8> {
  using type = i32;
};

template <class A, class B>
struct Dot {
  static_assert(sizeof(dot_wants_MxK_and_KxN<A, B>) == 0, "dot wants two tiles of rank 2");
};
template <class T, int M, int K, class U, int K2, int N>
struct Dot<Tile<T, M, K>, Tile<U, K2, N>> {
  static_assert(std::is_same_v<T, U>,
                "dot wants two tiles of one dtype: convert one with cast<T>(x)");
  static_assert(std::is_same_v<T, f16> || std::is_same_v<T, bf16> || std::is_same_v<T, f32> ||
                    std::is_same_v<T, f64> || std::is_same_v<T, i8>,
                "dot multiplies f16, bf16, f32, f64 or i8: cast<T>(x) first");
  template <bool Ok, class A, class B>
  static constexpr bool check() {
    if constexpr (!Ok) static_assert(sizeof(dot_wants_MxK_and_KxN<A, B>) != 0);
    return true;
  }
  static_assert(check<K == K2, extents<M, K>, extents<K2, N>>());
  using type = Tile<typename DotSum<T>::type, M, N>;
};

}  // namespace lang

/// The matrix product of a[M, K] and b[K, N], plus acc[M, N] when given. f16, bf16 and f32 are
/// summed in f32, f64 in f64, i8 in i32: that is the dtype of acc and of the result.
template <class T, int... E, class U, int... F, class V, int... G>
[[nodiscard]] auto dot(const Tile<T, E...>& a, const Tile<U, F...>& b, const Tile<V, G...>& acc,
                       const DotOptions& options = {}) {
  using R = typename lang::Dot<Tile<T, E...>, Tile<U, F...>>::type;
  static_assert(
      std::is_same_v<typename R::element, V>,
      "dot sums f16, bf16 and f32 in f32, f64 in f64, i8 in i32: acc must be of that dtype");
  static_assert(std::is_same_v<R, Tile<V, G...>> || !std::is_same_v<typename R::element, V>,
                "acc of dot(a[M, K], b[K, N], acc) must be [M, N]");
  return R(lang::Trusted{}, lang::matrix_product(a.any(), b.any(), acc.any(), options.precision));
}
template <class T, int... E, class U, int... F>
[[nodiscard]] auto dot(const Tile<T, E...>& a, const Tile<U, F...>& b,
                       const DotOptions& options = {}) {
  using R = typename lang::Dot<Tile<T, E...>, Tile<U, F...>>::type;
  return R(lang::Trusted{},
           lang::matrix_product(a.any(), b.any(), std::nullopt, options.precision));
}
[[nodiscard]] inline AnyTile dot(const AnyTile& a, const AnyTile& b, const AnyTile& acc,
                                 const DotOptions& options = {}) {
  return lang::matrix_product(a, b, acc, options.precision);
}
[[nodiscard]] inline AnyTile dot(const AnyTile& a, const AnyTile& b,
                                 const DotOptions& options = {}) {
  return lang::matrix_product(a, b, std::nullopt, options.precision);
}

}  // namespace teeny
