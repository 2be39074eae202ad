#pragma once

// Memory as a strided array of which tiles are read and written: at any offset, overlapping, and
// over the edges.

#include <array>
#include <concepts>
#include <initializer_list>
#include <vector>

#include "teeny/lang/memory.hpp"

namespace teeny {

namespace lang {

/// An extent, stride or offset of a view: a C++ integer or an integer of the kernel, widened to i64
/// before anything is computed with it.
class Index {
 public:
  template <std::integral I>
    requires(!std::is_same_v<I, bool>)
  Index(I value) : value_(value) {}
  template <class T>
  Index(const Tile<T>& value) : value_(value.any()) {
    static_assert(is_int(dtype_of<T>), "an extent, stride or offset of a view is an integer");
  }
  Index(const AnyTile& value) : value_(value) {}
  /// As an i64 scalar. Error(input) when it is no scalar integer.
  [[nodiscard]] AnyTile wide() const;

 private:
  Operand value_;
};

/// A view with its rank known while recording: i64 scalars, one of each an axis.
struct ViewParts {
  AnyTile base;
  std::vector<AnyTile> extents;
  std::vector<AnyTile> strides;
};
ViewParts make_view(const AnyTile& base, const Index* extents, std::size_t rank,
                    const Index* strides, std::size_t stride_count);
AnyTile load_tile(const ViewParts& view, const Index* at, std::size_t count, const Shape& shape,
                  const Number& padding);
void store_tile(const ViewParts& view, const Index* at, std::size_t count, const Operand& value,
                const Shape& shape);

/// The value of elements outside of a view: a literal.
template <class T>
class Padding {
 public:
  Padding() : value_(zero()) {}
  template <Literal L>
  Padding(L value) : value_(value) {
    static_assert(literal_fits<T, L>,
                  "this padding does not fit the dtype of the view: a float only a float, a bool "
                  "only a bool");
  }
  [[nodiscard]] const Number& get() const noexcept { return value_; }

 private:
  static Number zero() {
    if constexpr (std::is_same_v<T, bool>) return Number(false);
    return Number(0);
  }
  Number value_;
};

}  // namespace lang

/// Memory at `base` as an array of `Rank` axes: element (i, j, ...) lies at base + i * stride[0] +
/// j * stride[1] + ..., in elements, and exists where 0 <= i < extent[0] and so on. Made by view().
template <class T, int Rank>
class View {
 public:
  using element = T;
  explicit View(lang::ViewParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] const lang::ViewParts& parts() const noexcept { return parts_; }

 private:
  lang::ViewParts parts_;
};

/// A view whose dtype and rank are known only while recording.
class AnyView {
 public:
  explicit AnyView(lang::ViewParts parts) : parts_(std::move(parts)) {}
  template <class T, int Rank>
  AnyView(const View<T, Rank>& view) : parts_(view.parts()) {}
  [[nodiscard]] const lang::ViewParts& parts() const noexcept { return parts_; }
  [[nodiscard]] DType dtype() const { return parts_.base.dtype(); }
  [[nodiscard]] int rank() const noexcept { return static_cast<int>(parts_.extents.size()); }

 private:
  lang::ViewParts parts_;
};

/// view(image, {height, width}, {stride, 1}): extents and strides are C++ integers or integers of
/// the kernel, strides count elements and may be 0 or negative. Row-major when left out. Up to 8
/// axes.
template <class T, std::size_t Rank>
[[nodiscard]] View<T, static_cast<int>(Rank)> view(const Ptr<T>& base,
                                                   const lang::Index (&sizes)[Rank],
                                                   const lang::Index (&strides)[Rank]) {
  return View<T, static_cast<int>(Rank)>(lang::make_view(base.any(), sizes, Rank, strides, Rank));
}
template <class T, std::size_t Rank>
[[nodiscard]] View<T, static_cast<int>(Rank)> view(const Ptr<T>& base,
                                                   const lang::Index (&sizes)[Rank]) {
  return View<T, static_cast<int>(Rank)>(lang::make_view(base.any(), sizes, Rank, nullptr, 0));
}
[[nodiscard]] inline AnyView view(const AnyPtr& base, const std::vector<lang::Index>& sizes,
                                  const std::vector<lang::Index>& strides) {
  return AnyView(lang::make_view(base, sizes.data(), sizes.size(), strides.data(), strides.size()));
}
[[nodiscard]] inline AnyView view(const AnyPtr& base, const std::vector<lang::Index>& sizes) {
  return AnyView(lang::make_view(base, sizes.data(), sizes.size(), nullptr, 0));
}

template <class T>
struct ViewLoadOptions {
  lang::Padding<T> padding = {};  ///< elements outside of the view; zero when left out
};
struct AnyViewLoadOptions {
  std::optional<lang::Number> padding = {};
};

/// The tile of extents E whose first element is at the offsets `at`, counted in elements, negative
/// or past the end as it comes: load<8, 64>(image, {row - 1, column - 1}). Elements outside of the
/// view are not touched and get the padding.
template <int... E, class T, int Rank, std::size_t Count>
[[nodiscard]] Tile<std::remove_const_t<T>, E...> load(
    const View<T, Rank>& from, const lang::Index (&at)[Count],
    const ViewLoadOptions<std::remove_const_t<T>>& options = {}) {
  static_assert(sizeof...(E) == static_cast<std::size_t>(Rank),
                "load<E...>(view, at) wants as many extents as the view has axes");
  static_assert(Count == static_cast<std::size_t>(Rank),
                "load<E...>(view, at) wants as many offsets as the view has axes");
  return Tile<std::remove_const_t<T>, E...>(
      lang::Trusted{}, lang::load_tile(from.parts(), at, Count, lang::shape_of(extents<E...>{}),
                                       options.padding.get()));
}
/// The same with the tile's extents known while recording: load(view, {row, column}, {8, 64}).
[[nodiscard]] inline AnyTile load(const AnyView& from, const std::vector<lang::Index>& at,
                                  const Shape& shape, const AnyViewLoadOptions& options = {}) {
  const bool truth = from.dtype() == DType::boolean;
  const lang::Number zero = truth ? lang::Number(false) : lang::Number(0);
  return lang::load_tile(from.parts(), at.data(), at.size(), shape, options.padding.value_or(zero));
}

/// Writes a tile with its first element at the offsets `at`. Elements outside of the view are not
/// written.
template <class T, int Rank, std::size_t Count, class V>
  requires(lang::TileLike<V>)
void store(const View<T, Rank>& to, const lang::Index (&at)[Count], const V& tile) {
  static_assert(Count == static_cast<std::size_t>(Rank),
                "store(view, at, tile) wants as many offsets as the view has axes");
  if constexpr (lang::StaticTile<V>) {
    static_assert(
        !std::is_const_v<T>,
        "store into a view of Ptr<const T>: the kernel promised only to read there; make the "
        "parameter a Ptr<T>");
    static_assert(
        std::is_same_v<typename V::element, T> || std::is_const_v<T>,
        "the stored tile has another dtype than the view: store(view, at, cast<T>(tile))");
    static_assert(V::rank == Rank, "the stored tile must have as many axes as the view");
    lang::store_tile(to.parts(), at, Count, lang::operand(tile),
                     lang::shape_of(typename V::shape{}));
  } else {
    lang::store_tile(to.parts(), at, Count, lang::operand(tile), tile.shape());
  }
}
inline void store(const AnyView& to, const std::vector<lang::Index>& at, const AnyTile& tile) {
  lang::store_tile(to.parts(), at.data(), at.size(), tile, tile.shape());
}

}  // namespace teeny
