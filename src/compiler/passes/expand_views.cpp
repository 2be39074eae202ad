#include <utility>

#include "compiler/passes/passes.hpp"

#include "teeny/ir/rewrite.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Op;
using ir::Opcode;
using ir::Shape;
using ir::Type;
using ir::ValueId;

/// Pointers into a view and which of them lie inside it, both of the tile's shape.
struct Access {
  ValueId pointers;
  ValueId inside;
};

/// The operands of a view operation, by meaning: base, then r extents, r strides, r offsets.
struct ViewOperands {
  explicit ViewOperands(const Op& op, std::size_t rank) : op_(op), rank_(rank) {}
  [[nodiscard]] ValueId base() const { return op_.operands[0]; }
  [[nodiscard]] ValueId extent(std::size_t d) const { return op_.operands[1 + d]; }
  [[nodiscard]] ValueId stride(std::size_t d) const { return op_.operands[1 + rank_ + d]; }
  [[nodiscard]] ValueId offset(std::size_t d) const { return op_.operands[1 + 2 * rank_ + d]; }

 private:
  const Op& op_;
  std::size_t rank_;
};

/// A vector along dimension `d` repeated over the whole shape.
ValueId spread(Builder& b, ValueId vector, std::size_t d, const Shape& shape) {
  Shape aligned(shape.size(), 1);
  aligned[d] = shape[d];
  return b.broadcast(b.reshape(vector, aligned), shape);
}

/// The tile's origin is a scalar and added to the base once; only distances within the tile are
/// tiles, built along one dimension each before they are spread, so that little is computed per
/// element and a unit stride stays visible. The origin may lie outside the view: it is never read.
Access address(Builder& b, const ViewOperands& view, const Shape& shape) {
  const Type i64_scalar = Type::scalar(DType::i64);
  ValueId origin = b.constant(i64_scalar, 0);
  ValueId distance = ir::no_value;
  ValueId inside = ir::no_value;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    origin = b.binary(Opcode::add, origin, b.binary(Opcode::mul, view.offset(d), view.stride(d)));
    const Shape line{shape[d]};
    const ValueId step = b.cast(b.arange(0, shape[d]), DType::i64);
    const ValueId at = b.binary(Opcode::add, step, b.broadcast(view.offset(d), line));
    const ValueId zero = b.constant(Type::tile(DType::i64, line), 0);
    const ValueId within =
        b.binary(Opcode::bit_and, b.compare(ir::Predicate::ge, at, zero),
                 b.compare(ir::Predicate::lt, at, b.broadcast(view.extent(d), line)));
    const ValueId along = b.binary(Opcode::mul, step, b.broadcast(view.stride(d), line));
    const ValueId spread_within = spread(b, within, d, shape);
    const ValueId spread_along = spread(b, along, d, shape);
    inside = d == 0 ? spread_within : b.binary(Opcode::bit_and, inside, spread_within);
    distance = d == 0 ? spread_along : b.binary(Opcode::add, distance, spread_along);
  }
  const ValueId corner = b.broadcast(b.offset(view.base(), origin), shape);
  return {b.offset(corner, distance), inside};
}

}  // namespace

ir::Kernel expand_views(const ir::Kernel& kernel) {
  return ir::rewrite(
      kernel,
      [&](Builder& b, const Op& op, const Op& original) -> std::optional<std::vector<ValueId>> {
        if (op.code == Opcode::load_view) {
          const Type type = kernel.type(original.results[0]);
          const Access at = address(b, ViewOperands(op, type.shape.size()), type.shape);
          return std::vector<ValueId>{
              b.load(at.pointers, at.inside, b.constant(type, op.bits), op.cache)};
        }
        if (op.code == Opcode::store_view) {
          const Shape shape = b.type(op.operands.back()).shape;
          const Access at = address(b, ViewOperands(op, shape.size()), shape);
          b.store(at.pointers, op.operands.back(), at.inside, op.cache);
          return std::vector<ValueId>{};
        }
        return std::nullopt;
      });
}

}  // namespace teeny::compiler
