#pragma once

#include <tuple>
#include <utility>

#include "teeny/lang/tile.hpp"

namespace teeny::lang {

/// How what a region takes and returns (one tile, a std::tuple of tiles, a vector of AnyTile) is a
/// list of values.
template <class S>
struct State {
  static constexpr bool is_state = false;
};
template <>
struct State<AnyTile> {
  static constexpr bool is_state = true;
  static Tiles flatten(const AnyTile& tile) { return {tile}; }
  static AnyTile rebuild(const Tiles& tiles) { return tiles.front(); }
};
template <class S>
  requires(StaticTile<S> || StaticPtr<S>)
struct State<S> {
  static constexpr bool is_state = true;
  static Tiles flatten(const S& tile) { return {tile.any()}; }
  static S rebuild(const Tiles& tiles) { return S(Trusted{}, tiles.front()); }
};
template <>
struct State<Tiles> {
  static constexpr bool is_state = true;
  static Tiles flatten(const Tiles& tiles) { return tiles; }
  static Tiles rebuild(const Tiles& tiles) { return tiles; }
};

template <class S>
S rebuild_one(const AnyTile& tile) {
  if constexpr (Dynamic<S>) {
    return tile;
  } else {
    return S(Trusted{}, tile);
  }
}
template <class... S>
struct State<std::tuple<S...>> {
  static constexpr bool is_state = ((Dynamic<S> || StaticTile<S> || StaticPtr<S>) && ...);
  static Tiles flatten(const std::tuple<S...>& tiles) {
    return std::apply([](const S&... tile) { return Tiles{static_cast<AnyTile>(tile)...}; }, tiles);
  }
  static std::tuple<S...> rebuild(const Tiles& tiles) {
    return rebuild(tiles, std::index_sequence_for<S...>{});
  }

 private:
  template <std::size_t... I>
  static std::tuple<S...> rebuild(const Tiles& tiles, std::index_sequence<I...>) {
    return std::tuple<S...>(rebuild_one<S>(tiles[I])...);
  }
};

/// f(first..., state), a tuple's members one by one.
template <class S, class F, class... First>
decltype(auto) call_with_state(F& f, const S& state, const First&... first) {
  return f(first..., state);
}
template <class F, class... S, class... First>
decltype(auto) call_with_state(F& f, const std::tuple<S...>& state, const First&... first) {
  return std::apply([&](const S&... one) -> decltype(auto) { return f(first..., one...); }, state);
}

}  // namespace teeny::lang
