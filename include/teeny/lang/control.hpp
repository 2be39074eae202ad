#pragma once

// Loops and branches of the kernel itself. A C++ for or if runs while the kernel is recorded: it
// unrolls or chooses; these are recorded.

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "teeny/lang/state.hpp"

namespace teeny {

/// The integers lo, lo + step, ... below hi, as range() makes it. Index is Tile<i32>, another
/// integer scalar, or AnyTile.
template <class Index>
struct Range {
  AnyTile lo;
  AnyTile hi;
  AnyTile step;
};

namespace lang {

/// Index type of a range: that of the tiles among the bounds, which must agree; i32 for literals.
template <class... B>
struct RangeIndex {
  using type = Int;
};
template <class B, class... Rest>
struct RangeIndex<B, Rest...> {
  using rest = typename RangeIndex<Rest...>::type;
  static constexpr bool rest_has_tile = (TileLike<Rest> || ...);
  static_assert(!(StaticTile<B> && rest_has_tile) || std::is_same_v<B, rest> || Dynamic<rest>,
                "the bounds of a range must be scalars of one integer dtype: cast<i64>(x)");
  using type = std::conditional_t<Dynamic<B> || (Dynamic<rest> && rest_has_tile), AnyTile,
                                  std::conditional_t<StaticTile<B>, B, rest>>;
};

AnyTile range_bound(const Operand& bound, DType dtype);
void require_positive_step(const Operand& step);
DType dtype_of_bounds(const Operand& lo, const Operand& hi, const Operand& step);

}  // namespace lang

/// range(n), range(lo, hi), range(lo, hi, step): bounds are C++ integers or integer scalars of the
/// kernel; step > 0.
template <class Lo, class Hi, class Step = int>
  requires((lang::TileLike<Lo> || std::integral<Lo>) && (lang::TileLike<Hi> || std::integral<Hi>) &&
           (lang::TileLike<Step> || std::integral<Step>))
[[nodiscard]] auto range(const Lo& lo, const Hi& hi, const Step& step = 1) {
  using Index = typename lang::RangeIndex<Lo, Hi, Step>::type;
  const lang::Operand first = lang::operand(lo);
  const lang::Operand last = lang::operand(hi);
  const lang::Operand by = lang::operand(step);
  lang::require_positive_step(by);
  const DType dtype = lang::dtype_of_bounds(first, last, by);
  if constexpr (lang::StaticTile<Index>) {
    static_assert(Index::rank == 0 && is_int(dtype_of<typename Index::element>),
                  "the bounds of a range are integer scalars");
  }
  return Range<Index>{lang::range_bound(first, dtype), lang::range_bound(last, dtype),
                      lang::range_bound(by, dtype)};
}
template <class Hi>
  requires(lang::TileLike<Hi> || std::integral<Hi>)
[[nodiscard]] auto range(const Hi& hi) {
  return range(0, hi);
}

/// A loop that carries a state: `state = body(i, state)` for each i of the range; the last state is
/// the result. The state is a tile, or a std::tuple of tiles, which the body gets one by one:
///   auto [s, q] = fold(range(0, n), std::tuple(s0, q0), [&](Int i, auto s, auto q) {
///     return std::tuple(s + x, q + x * x); });
template <class Index, class S, class F>
auto fold(const Range<Index>& over, const S& init, F&& body) {
  static_assert(lang::State<S>::is_state,
                "the state of a fold is a tile or a std::tuple of tiles: full<f32>(0)");
  using Result =
      std::decay_t<decltype(lang::call_with_state(body, init, std::declval<const Index&>()))>;
  static_assert(
      std::is_same_v<Result, S>,
      "the body of a fold must return what it carries, dtype and shape unchanged: cast<T>, "
      "or start from zeros<T, E...>()");
  const auto region = [&](const AnyTile& index, const lang::Tiles& state) {
    return lang::State<S>::flatten(lang::call_with_state(body, lang::State<S>::rebuild(state),
                                                         lang::rebuild_one<Index>(index)));
  };
  return lang::State<S>::rebuild(
      lang::fold_range(over.lo, over.hi, over.step, lang::State<S>::flatten(init), region));
}

/// A loop without state, for what its body stores: body(i).
template <class Index, class F>
void for_each(const Range<Index>& over, F&& body) {
  static_assert(
      std::is_void_v<std::invoke_result_t<F&, Index>>,
      "the body of for_each returns nothing: fold carries values from one step to the next");
  lang::fold_range(over.lo, over.hi, over.step, {}, [&](const AnyTile& index, const lang::Tiles&) {
    body(lang::rebuild_one<Index>(index));
    return lang::Tiles{};
  });
}

/// Runs one of two functions, as the bool scalar `condition` says; both return tiles (or tuples of
/// tiles) of the same types, or nothing.
template <lang::BoolTile C, class Yes, class No>
auto if_(const C& condition, Yes&& yes, No&& no) {
  if constexpr (lang::StaticTile<C>) {
    static_assert(C::rank == 0, "if_ wants one bool: where() chooses element by element");
  }
  using R = std::decay_t<std::invoke_result_t<Yes&>>;
  static_assert(std::is_same_v<R, std::decay_t<std::invoke_result_t<No&>>>,
                "both branches of if_ must return the same types");
  if constexpr (std::is_void_v<R>) {
    lang::branch(
        condition, [&] { return yes(), lang::Tiles{}; }, [&] { return no(), lang::Tiles{}; });
  } else {
    static_assert(lang::State<R>::is_state,
                  "a branch of if_ returns a tile, a std::tuple of tiles, or nothing");
    return lang::State<R>::rebuild(lang::branch(
        condition, [&] { return lang::State<R>::flatten(yes()); },
        [&] { return lang::State<R>::flatten(no()); }));
  }
}
template <lang::BoolTile C, class Yes>
void if_(const C& condition, Yes&& yes) {
  if_(condition, std::forward<Yes>(yes), [] {});
}

}  // namespace teeny
