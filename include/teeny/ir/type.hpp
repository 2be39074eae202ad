#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "teeny/base/dtype.hpp"

namespace teeny::ir {

/// Extents of a tile, outermost first; empty for a scalar. Every extent is a power of two.
using Shape = std::vector<std::int64_t>;

inline constexpr int max_rank = 8;                       ///< extents of one tile
inline constexpr std::int64_t max_elements = 1LL << 20;  ///< elements of one tile

[[nodiscard]] std::int64_t element_count(const Shape& shape) noexcept;
[[nodiscard]] std::string to_string(const Shape& shape);  ///< "[64, 32]", "[]"

/// The type of an SSA value: a tile (or scalar) of elements, or of pointers to elements.
struct Type {
  DType dtype = DType::f32;  ///< of the elements, or of what the pointers point to
  bool pointer = false;
  bool read_only = false;  ///< pointers only: nothing may be stored through it
  Shape shape = {};

  [[nodiscard]] static Type scalar(DType dtype) { return {dtype, false, false, {}}; }
  [[nodiscard]] static Type tile(DType dtype, Shape shape) {
    return {dtype, false, false, std::move(shape)};
  }
  [[nodiscard]] static Type pointer_to(DType dtype, bool read_only = false, Shape shape = {}) {
    return {dtype, true, read_only, std::move(shape)};
  }
  [[nodiscard]] bool is_scalar() const noexcept { return shape.empty(); }
  [[nodiscard]] int rank() const noexcept { return static_cast<int>(shape.size()); }
  [[nodiscard]] std::int64_t count() const noexcept { return element_count(shape); }
  /// The same kind of element in another shape.
  [[nodiscard]] Type with_shape(Shape other) const {
    return {dtype, pointer, read_only, std::move(other)};
  }
  /// The same shape of another element (no pointer).
  [[nodiscard]] Type with_dtype(DType other) const { return {other, false, false, shape}; }
  friend bool operator==(const Type&, const Type&) = default;
};

/// "f32", "f32[64x32]", "ptr<f32>", "ptr<const f32>[1024]".
[[nodiscard]] std::string to_string(const Type& type);

/// Which rule `type` breaks ("extent 3 is not a power of two"), or an empty text when it is a type
/// of the IR.
[[nodiscard]] std::string broken_rule(const Type& type);

}  // namespace teeny::ir
