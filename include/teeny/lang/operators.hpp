#pragma once

#include "teeny/lang/tile.hpp"

namespace teeny {

namespace lang {

template <ir::Opcode Code, class A, class B>
auto arithmetic(const A& a, const B& b) {
  if constexpr (Dynamic<A> || Dynamic<B>) {
    return binary(Code, operand(a), operand(b));
  } else {
    using R = combined_tile<A, B>;
    static_assert(!std::is_same_v<typename R::element, bool>,
                  "no arithmetic on bool: combine masks with & | ^ !, or cast<i32>(mask)");
    return R(Trusted{}, binary(Code, operand(a), operand(b)));
  }
}

template <ir::Opcode Code, class A, class B>
auto bitwise(const A& a, const B& b) {
  if constexpr (Dynamic<A> || Dynamic<B>) {
    return binary(Code, operand(a), operand(b));
  } else {
    using R = combined_tile<A, B>;
    static_assert(!is_float(dtype_of<typename R::element>),
                  "& | ^ << >> want integers or bool: bitcast<u32>(x) gives a float's bits");
    static_assert(!std::is_same_v<typename R::element, bool> ||
                      (Code != ir::Opcode::shl && Code != ir::Opcode::shr),
                  "<< and >> want integers: cast<i32>(mask) first");
    return R(Trusted{}, binary(Code, operand(a), operand(b)));
  }
}

template <ir::Predicate Which, class A, class B>
auto comparison(const A& a, const B& b) {
  if constexpr (Dynamic<A> || Dynamic<B>) {
    return compare(Which, operand(a), operand(b));
  } else {
    using R = combined_tile<A, B>;
    return tile_of<bool, typename R::shape>(Trusted{}, compare(Which, operand(a), operand(b)));
  }
}

/// Pointers moved by integers, in elements.
template <ir::Opcode Code, class P, class I>
auto moved(const P& pointers, const I& by) {
  if constexpr (Dynamic<I>) {
    return binary(Code, operand(pointers), operand(by));
  } else if constexpr (Literal<I>) {
    static_assert(std::is_integral_v<I> && !std::is_same_v<I, bool>,
                  "pointers move by integers: elements, not bytes");
    return P(Trusted{}, binary(Code, operand(pointers), operand(by)));
  } else {
    static_assert(is_int(dtype_of<typename I::element>),
                  "pointers move by integers: cast<i32>(x) or cast<i64>(x) the offsets");
    using Extents = typename CheckedBroadcast<typename P::shape, typename I::shape>::type;
    return ptr_of<typename P::element, Extents>(Trusted{},
                                                binary(Code, operand(pointers), operand(by)));
  }
}

template <class X>
concept Offsets = TileLike<X> || Literal<X>;

}  // namespace lang

#define TEENY_BINARY_OPERATOR(SYMBOL, RECORD)                  \
  template <class A, class B>                                  \
    requires lang::Operands<A, B>                              \
  [[nodiscard]] auto operator SYMBOL(const A& a, const B& b) { \
    return lang::RECORD(a, b);                                 \
  }
TEENY_BINARY_OPERATOR(+, arithmetic<ir::Opcode::add>)
TEENY_BINARY_OPERATOR(-, arithmetic<ir::Opcode::sub>)
TEENY_BINARY_OPERATOR(*, arithmetic<ir::Opcode::mul>)
TEENY_BINARY_OPERATOR(/, arithmetic<ir::Opcode::div>)
TEENY_BINARY_OPERATOR(%, arithmetic<ir::Opcode::rem>)
TEENY_BINARY_OPERATOR(&, bitwise<ir::Opcode::bit_and>)
TEENY_BINARY_OPERATOR(|, bitwise<ir::Opcode::bit_or>)
TEENY_BINARY_OPERATOR(^, bitwise<ir::Opcode::bit_xor>)
TEENY_BINARY_OPERATOR(<<, bitwise<ir::Opcode::shl>)
TEENY_BINARY_OPERATOR(>>, bitwise<ir::Opcode::shr>)
TEENY_BINARY_OPERATOR(==, comparison<ir::Predicate::eq>)
TEENY_BINARY_OPERATOR(!=, comparison<ir::Predicate::ne>)
TEENY_BINARY_OPERATOR(<, comparison<ir::Predicate::lt>)
TEENY_BINARY_OPERATOR(<=, comparison<ir::Predicate::le>)
TEENY_BINARY_OPERATOR(>, comparison<ir::Predicate::gt>)
TEENY_BINARY_OPERATOR(>=, comparison<ir::Predicate::ge>)
#undef TEENY_BINARY_OPERATOR

// && and || would look as if they skipped their right side: here only so that the compiler says
// what to write instead.
template <class A, class B>
  requires lang::Operands<A, B>
auto operator&&(const A& a, const B& b) {
  static_assert(!lang::Operands<A, B>, "tiles have no && : write & between masks, in parentheses");
  return a & b;
}
template <class A, class B>
  requires lang::Operands<A, B>
auto operator||(const A& a, const B& b) {
  static_assert(!lang::Operands<A, B>, "tiles have no || : write | between masks, in parentheses");
  return a | b;
}

template <class T, int... E, lang::Offsets I>
[[nodiscard]] auto operator+(const Ptr<T, E...>& pointers, const I& by) {
  return lang::moved<ir::Opcode::add>(pointers, by);
}
template <class T, int... E, lang::Offsets I>
[[nodiscard]] auto operator+(const I& by, const Ptr<T, E...>& pointers) {
  return lang::moved<ir::Opcode::add>(pointers, by);
}
template <class T, int... E, lang::Offsets I>
[[nodiscard]] auto operator-(const Ptr<T, E...>& pointers, const I& by) {
  return lang::moved<ir::Opcode::sub>(pointers, by);
}

// a += b and its kin name the new value a; b must not change a's shape.
#define TEENY_ASSIGN_OPERATOR(SYMBOL, PLAIN)                                                       \
  template <class A, class B>                                                                      \
    requires((lang::TileLike<A> || lang::StaticPtr<A>) && (lang::TileLike<B> || lang::Literal<B>)) \
  A& operator SYMBOL(A & a, const B & b) {                                                         \
    using R = decltype(a PLAIN b);                                                                 \
    if constexpr (lang::Dynamic<R>) {                                                              \
      return a = A(a PLAIN b);                                                                     \
    } else {                                                                                       \
      static_assert(std::is_same_v<R, A>,                                                          \
                    "this would change the shape of the left side: write auto c = a op b");        \
      return a = a PLAIN b;                                                                        \
    }                                                                                              \
  }
TEENY_ASSIGN_OPERATOR(+=, +)
TEENY_ASSIGN_OPERATOR(-=, -)
TEENY_ASSIGN_OPERATOR(*=, *)
TEENY_ASSIGN_OPERATOR(/=, /)
TEENY_ASSIGN_OPERATOR(%=, %)
TEENY_ASSIGN_OPERATOR(&=, &)
TEENY_ASSIGN_OPERATOR(|=, |)
TEENY_ASSIGN_OPERATOR(^=, ^)
TEENY_ASSIGN_OPERATOR(<<=, <<)
TEENY_ASSIGN_OPERATOR(>>=, >>)
#undef TEENY_ASSIGN_OPERATOR

template <lang::TileLike X>
[[nodiscard]] X operator-(const X& x) {
  if constexpr (lang::Dynamic<X>) {
    return lang::unary(ir::Opcode::neg, x);
  } else {
    static_assert(!std::is_same_v<typename X::element, bool>,
                  "no arithmetic on bool: !mask inverts, cast<i32>(mask) gives numbers");
    return X(lang::Trusted{}, lang::unary(ir::Opcode::neg, x.any()));
  }
}

/// The bits inverted: integers, and bool as !.
template <lang::TileLike X>
[[nodiscard]] X operator~(const X& x) {
  if constexpr (lang::Dynamic<X>) {
    return lang::unary(ir::Opcode::bit_not, x);
  } else {
    static_assert(!is_float(dtype_of<typename X::element>),
                  "~ wants integers or bool: bitcast<u32>(x) gives a float's bits");
    return X(lang::Trusted{}, lang::unary(ir::Opcode::bit_not, x.any()));
  }
}

template <lang::TileLike X>
[[nodiscard]] X operator!(const X& x) {
  if constexpr (lang::Dynamic<X>) {
    return lang::invert(x);
  } else {
    static_assert(std::is_same_v<typename X::element, bool>,
                  "! wants bool: compare with 0, or use ~ for the bits of integers");
    return X(lang::Trusted{}, lang::invert(x.any()));
  }
}

}  // namespace teeny
