#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "teeny/ir/builder.hpp"
#include "teeny/lang/number.hpp"

namespace teeny {

namespace lang {
struct Recorder;
}

using ir::KernelOptions;
using ir::Precision;
using ir::Shape;
/// automatic, or streaming: touched once, need not stay in a cache.
using CacheHint = ir::Cache;

/// A value of a kernel being recorded: a tile or a scalar, of elements or of pointers, whose dtype
/// and extents are known when the kernel is recorded rather than when it is compiled. A handle: to
/// copy it records nothing. All that works on Tile works on AnyTile, with the checks made while
/// recording: Error(input) names both dtypes or both shapes.
class AnyTile {
 public:
  [[nodiscard]] ir::Type type() const;
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] Shape shape() const { return type().shape; }
  [[nodiscard]] int rank() const { return type().rank(); }
  /// Extent along `axis`; a negative axis counts from the last. Error(input) when there is none.
  [[nodiscard]] std::int64_t extent(int axis) const;
  [[nodiscard]] bool is_pointer() const { return type().pointer; }

  /// A bool of the kernel is not known while it is recorded: use where() or if_().
  explicit operator bool() const = delete;

 private:
  friend struct lang::Recorder;
  AnyTile(ir::ValueId id, unsigned trace) : id_(id), trace_(trace) {}
  ir::ValueId id_;
  unsigned trace_;  // serial of the trace it belongs to, so that a stray one is found
};

/// Pointers whose element type is known only when the kernel is recorded.
using AnyPtr = AnyTile;

namespace lang {

/// One side of an operation: a tile, or a number that becomes one of the other side's dtype.
class Operand {
 public:
  Operand(const AnyTile& tile) : tile_(tile), number_(false) {}
  Operand(const Number& number) : number_(number) {}
  template <Literal L>
  Operand(L literal) : number_(literal) {}
  [[nodiscard]] bool is_tile() const noexcept { return tile_.has_value(); }
  [[nodiscard]] const AnyTile& tile() const { return *tile_; }
  [[nodiscard]] const Number& number() const noexcept { return number_; }

 private:
  std::optional<AnyTile> tile_;
  Number number_;
};

// What the operators and functions of the language record. Operands are broadcast as NumPy does;
// two tiles must have one dtype. Each throws Error(usage) outside of a kernel being recorded.
AnyTile unary(ir::Opcode code, const AnyTile& x);
AnyTile binary(ir::Opcode code, const Operand& a, const Operand& b);  // also pointer + integer
AnyTile compare(ir::Predicate predicate, const Operand& a, const Operand& b);
AnyTile select(const AnyTile& condition, const Operand& yes, const Operand& no);
AnyTile fused_multiply_add(const Operand& a, const Operand& b, const Operand& c);
AnyTile invert(const AnyTile& x);  // !, bool only
AnyTile constant(DType dtype, const Shape& shape, const Number& value);
AnyTile program_position(int axis);
AnyTile program_count(int axis);
AnyTile iota(std::int64_t start, std::int64_t count);
AnyTile cast_to(const AnyTile& x, DType dtype);  // nothing is recorded when x is of that dtype
AnyTile bitcast_to(const AnyTile& x, DType dtype);
AnyTile reshape_to(const AnyTile& x, const Shape& shape);
AnyTile broadcast_up(const AnyTile& x, const Shape& shape);  // missing leading axes are added
AnyTile permute_axes(const AnyTile& x, const std::vector<int>& dims);
AnyTile insert_axis(const AnyTile& x, int axis);

AnyTile load_elements(const AnyTile& pointers, const std::optional<AnyTile>& mask,
                      const std::optional<Operand>& other, CacheHint cache);
void store_elements(const AnyTile& pointers, const Operand& value,
                    const std::optional<AnyTile>& mask, CacheHint cache);
AnyTile matrix_product(const AnyTile& a, const AnyTile& b, const std::optional<AnyTile>& acc,
                       Precision precision);

using Tiles = std::vector<AnyTile>;
/// `combine` gets the left and the right scalars, and returns as many.
Tiles reduce_axis(const Tiles& tiles, int axis,
                  const std::function<Tiles(const Tiles& left, const Tiles& right)>& combine);
/// add (f16 and bf16 in f32, rounded once at the end), minimum or maximum along one axis.
AnyTile reduce_axis(ir::Opcode code, const AnyTile& x, int axis);
/// The same over all axes: a scalar.
AnyTile reduce_all(ir::Opcode code, const AnyTile& x);
/// i32 index of the largest or smallest element; the first among equals, and NaN before any number.
AnyTile index_of_extreme(const AnyTile& x, int axis, bool largest);

Tiles fold_range(const AnyTile& lo, const AnyTile& hi, const AnyTile& step, const Tiles& inits,
                 const std::function<Tiles(const AnyTile& index, const Tiles& state)>& body);
Tiles branch(const AnyTile& condition, const std::function<Tiles()>& yes,
             const std::function<Tiles()>& no);

/// Error(input) unless `tile` has this type.
void require_type(const AnyTile& tile, const ir::Type& wanted);

}  // namespace lang
}  // namespace teeny
