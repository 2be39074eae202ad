#pragma once

// Memory by pointers and masks. For whole tiles of a matrix or image, see view.hpp.

#include <optional>

#include "teeny/lang/operators.hpp"

namespace teeny {

namespace lang {

/// Which elements are touched: any bool tile that broadcasts to the extents E; all when left out.
template <int... E>
class Mask {
 public:
  Mask() = default;
  template <BoolTile M>
  Mask(const M& mask) : value_(static_cast<AnyTile>(mask)) {
    if constexpr (StaticTile<M>) check_broadcasts_to<typename M::shape, extents<E...>>();
  }
  [[nodiscard]] const std::optional<AnyTile>& get() const noexcept { return value_; }

 private:
  std::optional<AnyTile> value_;
};

/// Elements of T: a literal, or a tile that broadcasts to the extents E.
template <class T, int... E>
class Fill {
 public:
  Fill() = default;
  template <class V>
    requires(Literal<V> || TileLike<V>)
  Fill(const V& value) : value_(operand(value)) {
    if constexpr (StaticTile<V>) {
      static_assert(std::is_same_v<typename V::element, T>,
                    "wanted a value of the dtype the pointer points to: cast<T>(value)");
      check_broadcasts_to<typename V::shape, extents<E...>>();
    } else if constexpr (Literal<V>) {
      static_assert(literal_fits<T, V>,
                    "this literal does not fit the dtype the pointer points to: a float only a "
                    "float, a bool only a bool");
    }
  }
  [[nodiscard]] const std::optional<Operand>& get() const noexcept { return value_; }

 private:
  std::optional<Operand> value_;
};

/// The value of a store: checked against the pointer, first of all its dtype.
template <class T, int... E, class V>
Operand stored(const V& value) {
  static_assert(!std::is_const_v<T>,
                "store through Ptr<const T>: the kernel promised only to read there; make the "
                "parameter a Ptr<T>");
  using Wanted = std::remove_const_t<T>;
  if constexpr (StaticTile<V>) {
    static_assert(std::is_same_v<typename V::element, Wanted>,
                  "the stored value has another dtype than the pointer points to: store(p, "
                  "cast<T>(value))");
    check_broadcasts_to<typename V::shape, extents<E...>>();
  } else if constexpr (Literal<V>) {
    static_assert(literal_fits<Wanted, V>,
                  "the stored literal does not fit the dtype the pointer points to: a float only a "
                  "float, a bool only a bool");
  }
  return operand(value);
}

}  // namespace lang

/// Named options of a load through Ptr<T, E...>.
template <class T, int... E>
struct LoadOptions {
  lang::Mask<E...> mask = {};      ///< touch only these elements
  lang::Fill<T, E...> other = {};  ///< what the rest get; zeros when left out
  CacheHint cache = CacheHint::automatic;
};
/// Named options of a store.
template <int... E>
struct StoreOptions {
  lang::Mask<E...> mask = {};  ///< write only these elements
  CacheHint cache = CacheHint::automatic;
};
struct AnyLoadOptions {
  std::optional<AnyTile> mask = {};
  std::optional<lang::Operand> other = {};
  CacheHint cache = CacheHint::automatic;
};
struct AnyStoreOptions {
  std::optional<AnyTile> mask = {};
  CacheHint cache = CacheHint::automatic;
};

/// What the pointers point to: load(p), load(p, mask), load(p, {.mask = m, .other = 0}).
template <class T, int... E>
[[nodiscard]] Tile<std::remove_const_t<T>, E...> load(
    const Ptr<T, E...>& pointers, const LoadOptions<std::remove_const_t<T>, E...>& options = {}) {
  return Tile<std::remove_const_t<T>, E...>(
      lang::Trusted{},
      lang::load_elements(pointers.any(), options.mask.get(), options.other.get(), options.cache));
}
template <class T, int... E, lang::BoolTile M>
[[nodiscard]] Tile<std::remove_const_t<T>, E...> load(const Ptr<T, E...>& pointers, const M& mask) {
  return load(pointers, LoadOptions<std::remove_const_t<T>, E...>{.mask = mask});
}
[[nodiscard]] inline AnyTile load(const AnyPtr& pointers, const AnyLoadOptions& options = {}) {
  return lang::load_elements(pointers, options.mask, options.other, options.cache);
}
[[nodiscard]] inline AnyTile load(const AnyPtr& pointers, const AnyTile& mask) {
  return lang::load_elements(pointers, mask, std::nullopt, CacheHint::automatic);
}

/// Writes value, a tile or a literal, to where the pointers point: store(p, v), store(p, v, mask),
/// store(p, v, {.mask = m}). Two pointers of one store must not be equal.
template <class T, int... E, class V>
  requires(lang::TileLike<V> || lang::Literal<V>)
void store(const Ptr<T, E...>& pointers, const V& value, const StoreOptions<E...>& options = {}) {
  lang::store_elements(pointers.any(), lang::stored<T, E...>(value), options.mask.get(),
                       options.cache);
}
template <class T, int... E, class V, lang::BoolTile M>
  requires(lang::TileLike<V> || lang::Literal<V>)
void store(const Ptr<T, E...>& pointers, const V& value, const M& mask) {
  store(pointers, value, StoreOptions<E...>{.mask = mask});
}
inline void store(const AnyPtr& pointers, const lang::Operand& value,
                  const AnyStoreOptions& options = {}) {
  lang::store_elements(pointers, value, options.mask, options.cache);
}
inline void store(const AnyPtr& pointers, const lang::Operand& value, const AnyTile& mask) {
  lang::store_elements(pointers, value, mask, CacheHint::automatic);
}

}  // namespace teeny
