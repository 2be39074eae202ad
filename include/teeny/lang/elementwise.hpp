#pragma once

// Functions of each element by itself. Operands broadcast, and literals may stand for tiles.

#include <concepts>

#include "teeny/lang/operators.hpp"

namespace teeny {

/// The same values in another dtype: to a float nearest even; float to integer truncates,
/// saturates, NaN gives 0; integers wrap; to bool is != 0. Nothing is recorded when the dtype is U
/// already.
template <Element U, class T, int... E>
[[nodiscard]] Tile<U, E...> cast(const Tile<T, E...>& x) {
  return Tile<U, E...>(lang::Trusted{}, lang::cast_to(x.any(), dtype_of<U>));
}
[[nodiscard]] inline AnyTile cast(const AnyTile& x, DType dtype) { return lang::cast_to(x, dtype); }

/// The same bits as another dtype of equal width.
template <Element U, class T, int... E>
[[nodiscard]] Tile<U, E...> bitcast(const Tile<T, E...>& x) {
  static_assert(bits_of(dtype_of<U>) == bits_of(dtype_of<T>),
                "bitcast wants two dtypes of one width: cast<U>(x) converts values");
  return Tile<U, E...>(lang::Trusted{}, lang::bitcast_to(x.any(), dtype_of<U>));
}
[[nodiscard]] inline AnyTile bitcast(const AnyTile& x, DType dtype) {
  return lang::bitcast_to(x, dtype);
}

namespace lang {

template <ir::Opcode Code, class X>
X float_function(const X& x) {
  if constexpr (Dynamic<X>) {
    return unary(Code, x);
  } else {
    static_assert(is_float(dtype_of<typename X::element>),
                  "this function wants floats: cast<f32>(x) first");
    return X(Trusted{}, unary(Code, x.any()));
  }
}

}  // namespace lang

#define TEENY_FLOAT_FUNCTION(NAME)                    \
  template <lang::TileLike X>                         \
  [[nodiscard]] X NAME(const X& x) {                  \
    return lang::float_function<ir::Opcode::NAME>(x); \
  }
TEENY_FLOAT_FUNCTION(exp)
TEENY_FLOAT_FUNCTION(exp2)
TEENY_FLOAT_FUNCTION(log)
TEENY_FLOAT_FUNCTION(log2)
TEENY_FLOAT_FUNCTION(sqrt)
TEENY_FLOAT_FUNCTION(rsqrt)  // 1 / sqrt(x)
TEENY_FLOAT_FUNCTION(sin)
TEENY_FLOAT_FUNCTION(cos)
TEENY_FLOAT_FUNCTION(tanh)
TEENY_FLOAT_FUNCTION(sigmoid)  // 1 / (1 + exp(-x))
TEENY_FLOAT_FUNCTION(erf)
TEENY_FLOAT_FUNCTION(floor)
TEENY_FLOAT_FUNCTION(ceil)
TEENY_FLOAT_FUNCTION(round)  // half to even
#undef TEENY_FLOAT_FUNCTION

/// |x| of integers and floats; the lowest integer stays as it is.
template <lang::TileLike X>
[[nodiscard]] X abs(const X& x) {
  if constexpr (lang::Dynamic<X>) {
    return lang::unary(ir::Opcode::abs, x);
  } else {
    static_assert(!std::is_same_v<typename X::element, bool>, "abs wants numbers: cast<i32>(mask)");
    return X(lang::Trusted{}, lang::unary(ir::Opcode::abs, x.any()));
  }
}

/// The smaller and the larger of two; NaN if either is.
template <class A, class B>
  requires lang::Operands<A, B>
[[nodiscard]] auto minimum(const A& a, const B& b) {
  return lang::arithmetic<ir::Opcode::minimum>(a, b);
}
template <class A, class B>
  requires lang::Operands<A, B>
[[nodiscard]] auto maximum(const A& a, const B& b) {
  return lang::arithmetic<ir::Opcode::maximum>(a, b);
}
/// x held between lo and hi.
template <class X, class Lo, class Hi>
  requires(lang::TileLike<X> && lang::Operands<X, Lo> && lang::Operands<X, Hi>)
[[nodiscard]] auto clamp(const X& x, const Lo& lo, const Hi& hi) {
  return minimum(maximum(x, lo), hi);
}

/// a * b + c of floats, rounded once.
template <class A, class B, class C>
  requires lang::Operands<A, B, C>
[[nodiscard]] auto fma(const A& a, const B& b, const C& c) {
  if constexpr (lang::Dynamic<A> || lang::Dynamic<B> || lang::Dynamic<C>) {
    return lang::fused_multiply_add(lang::operand(a), lang::operand(b), lang::operand(c));
  } else {
    using R = typename lang::CombinedAll<A, B, C>::type;
    static_assert(is_float(dtype_of<typename R::element>), "fma wants floats: write a * b + c");
    return R(lang::Trusted{},
             lang::fused_multiply_add(lang::operand(a), lang::operand(b), lang::operand(c)));
  }
}

/// a where the condition holds, else b; all three broadcast. Both sides are computed.
template <lang::BoolTile C, class A, class B>
  requires lang::Operands<A, B>
[[nodiscard]] auto where(const C& condition, const A& a, const B& b) {
  if constexpr (lang::Dynamic<C> || lang::Dynamic<A> || lang::Dynamic<B>) {
    return lang::select(condition, lang::operand(a), lang::operand(b));
  } else {
    using R = lang::combined_tile<A, B>;
    using Extents = typename lang::CheckedBroadcast<typename C::shape, typename R::shape>::type;
    return lang::tile_of<typename R::element, Extents>(
        lang::Trusted{}, lang::select(condition.any(), lang::operand(a), lang::operand(b)));
  }
}

/// ceil(a / b) for b > 0, whatever a is: of host integers, and of a kernel's.
template <std::integral A, std::integral B>
[[nodiscard]] constexpr auto cdiv(A a, B b) {
  return a / b + (a % b > 0 ? 1 : 0);
}
template <class A, class B>
  requires lang::Operands<A, B>
[[nodiscard]] auto cdiv(const A& a, const B& b) {
  // Not (a + b - 1) / b, which wraps where a is near the highest number.
  const auto quotient = a / b;
  return where(a % b > 0, quotient + 1, quotient);
}

}  // namespace teeny
