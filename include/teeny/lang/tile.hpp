#pragma once

#include <type_traits>

#include "teeny/lang/any_tile.hpp"
#include "teeny/lang/extents.hpp"

namespace teeny {

namespace lang {
/// Marks constructors that take a value already known to be of their type.
struct Trusted {};

template <int... E>
inline constexpr bool extents_are_powers_of_two = ((E > 0 && (E & (E - 1)) == 0) && ...);
}  // namespace lang

/// A tile of a kernel being recorded: elements of T in the extents E, outermost first; a scalar
/// when there are none. Immutable as a value: operators make new tiles, assignment renames.
///  * T is one of bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, each extent a power of two;
///  * two tiles combine when their T are the same (cast<U> converts) and their shapes broadcast as
///    NumPy's do; a C++ literal becomes a T;
///  * arithmetic means what ir/op.hpp says, the same on every device.
template <class T, int... E>
class Tile {
  static_assert(Element<T>, "a Tile holds bool, i8 to i64, u8 to u64, f16, bf16, f32 or f64");
  static_assert(lang::extents_are_powers_of_two<E...>,
                "every extent of a Tile is a power of two: take the next one and mask the rest");

 public:
  using element = T;
  using shape = extents<E...>;

  /// The same value with its type checked while recording. Error(input) naming wanted and found.
  explicit Tile(const AnyTile& value) : value_(value) { lang::require_type(value, type()); }
  Tile(lang::Trusted, const AnyTile& value) : value_(value) {}

  [[nodiscard]] const AnyTile& any() const noexcept { return value_; }
  operator AnyTile() const { return value_; }
  [[nodiscard]] static ir::Type type() {
    return ir::Type::tile(dtype_of<T>, lang::shape_of(shape{}));
  }
  static constexpr int rank = static_cast<int>(sizeof...(E));

  /// A bool of the kernel is not known while it is recorded.
  template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
  explicit operator Bool() const {
    static_assert(!std::is_same_v<Bool, bool>,
                  "a tile is not a C++ bool, its value is not known while recording: use if_() or "
                  "where() to choose");
    return false;
  }

 private:
  AnyTile value_;
};

/// One number of a kernel.
template <class T>
using Scalar = Tile<T>;
using Int = Tile<i32>;

/// Pointers into device memory in the extents E; Ptr<T> is one pointer. Ptr<const T> promises that
/// the kernel only reads there, and that nothing writes there while it runs. Offsets count
/// elements.
template <class T, int... E>
class Ptr {
  static_assert(Element<std::remove_const_t<T>>,
                "a Ptr points to bool, i8 to i64, u8 to u64, f16, bf16, f32 or f64");
  static_assert(lang::extents_are_powers_of_two<E...>,
                "every extent of a Ptr is a power of two: take the next one and mask the rest");

 public:
  using element = T;
  using shape = extents<E...>;

  explicit Ptr(const AnyTile& value) : value_(value) { lang::require_type(value, type()); }
  Ptr(lang::Trusted, const AnyTile& value) : value_(value) {}
  /// A pointer to write through is also one to read through.
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_const_v<U>)
  Ptr(const Ptr<U, E...>& other) : value_(other.any()) {}

  [[nodiscard]] const AnyTile& any() const noexcept { return value_; }
  operator AnyTile() const { return value_; }
  [[nodiscard]] static ir::Type type() {
    return ir::Type::pointer_to(dtype_of<std::remove_const_t<T>>, std::is_const_v<T>,
                                lang::shape_of(shape{}));
  }

 private:
  AnyTile value_;
};

template <class T, int... E>
using PtrTile = Ptr<T, E...>;

namespace lang {

template <class X>
struct is_tile : std::false_type {};
template <class T, int... E>
struct is_tile<Tile<T, E...>> : std::true_type {};
template <class X>
struct is_ptr : std::false_type {};
template <class T, int... E>
struct is_ptr<Ptr<T, E...>> : std::true_type {};

template <class X>
concept StaticTile = is_tile<X>::value;
template <class X>
concept StaticPtr = is_ptr<X>::value;
template <class X>
concept Dynamic = std::is_same_v<X, AnyTile>;
/// What an elementwise operation takes besides literals.
template <class X>
concept TileLike = StaticTile<X> || Dynamic<X>;
template <class X>
concept BoolTile = Dynamic<X> || (StaticTile<X> && std::is_same_v<typename X::element, bool>);
/// Two or more operands, at least one of them a tile.
template <class... X>
concept Operands = ((TileLike<X> || Literal<X>) && ...) && (TileLike<X> || ...);

template <class T, class Extents>
struct TileOf;
template <class T, int... E>
struct TileOf<T, extents<E...>> {
  using type = Tile<T, E...>;
};
template <class T, class Extents>
using tile_of = typename TileOf<T, Extents>::type;
template <class T, class Extents>
struct PtrOf;
template <class T, int... E>
struct PtrOf<T, extents<E...>> {
  using type = Ptr<T, E...>;
};
template <class T, class Extents>
using ptr_of = typename PtrOf<T, Extents>::type;

template <Literal L>
Operand operand(L literal) {
  return Operand(literal);
}
template <class X>
  requires(TileLike<X> || StaticPtr<X>)
Operand operand(const X& x) {
  return Operand(static_cast<AnyTile>(x));
}

/// Element type and extents that operands share, checked. Literals take the tiles' dtype.
template <class A, class B>
struct Combined;
template <class T, int... E, class U, int... F>
struct Combined<Tile<T, E...>, Tile<U, F...>> {
  static_assert(std::is_same_v<T, U>,
                "tiles of two dtypes do not mix: convert one with cast<T>(x)");
  using element = T;
  using shape = typename CheckedBroadcast<extents<E...>, extents<F...>>::type;
};
template <class T, int... E, Literal L>
struct Combined<Tile<T, E...>, L> {
  static_assert(
      !(is_int(dtype_of<T>) && is_float_literal<L>),
      "a float literal does not mix with an integer tile: write an integer, or cast<f32>(x) "
      "the tile");
  static_assert((is_int(dtype_of<T>) && is_float_literal<L>) || literal_fits<T, L>,
                "bool and numbers do not mix: compare the tile, or cast<T>(x) it");
  using element = T;
  using shape = extents<E...>;
};
template <Literal L, class T, int... E>
struct Combined<L, Tile<T, E...>> : Combined<Tile<T, E...>, L> {};
template <Literal A, Literal B>
struct Combined<A, B> {
  static_assert(Literal<A> && !Literal<B>,
                "at least one of the choices must be a tile: full<T>(value)");
};

/// Of three operands, literals among them.
template <class A, class B, class C>
struct CombinedAll {
  using first = tile_of<typename Combined<A, B>::element, typename Combined<A, B>::shape>;
  using type = tile_of<typename Combined<first, C>::element, typename Combined<first, C>::shape>;
};
template <Literal A, Literal B, class C>
struct CombinedAll<A, B, C> {
  static_assert(sizeof(Combined<A, C>) != 0 && sizeof(Combined<B, C>) != 0);
  using type = C;
};

template <class A, class B>
using combined_tile = tile_of<typename Combined<A, B>::element, typename Combined<A, B>::shape>;

}  // namespace lang
}  // namespace teeny
