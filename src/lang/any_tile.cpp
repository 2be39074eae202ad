#include "teeny/lang/any_tile.hpp"

#include <algorithm>
#include <utility>

#include "lang/recorder.hpp"

#include "teeny/base/error.hpp"

namespace teeny {

ir::Type AnyTile::type() const {
  const ir::ValueId id = lang::Recorder::id(*this);
  return lang::Recorder::builder().type(id);
}

std::int64_t AnyTile::extent(int axis) const {
  const Shape extents = shape();
  const int count = static_cast<int>(extents.size());
  const int at = axis < 0 ? axis + count : axis;
  if (at < 0 || at >= count) {
    throw Error(ErrorKind::input, "wanted the extent of axis " + std::to_string(axis) +
                                      ", found a value of shape " + ir::to_string(extents));
  }
  return extents[static_cast<std::size_t>(at)];
}

namespace lang {

namespace {

using ir::Builder;
using ir::Opcode;
using ir::ValueId;

std::string dtype_name(DType dtype) { return std::string(name(dtype)); }

/// Both sides as tiles of one shape and, but for pointers, one dtype.
struct Pair {
  AnyTile a;
  AnyTile b;
};

/// A literal becomes a constant of the shape it is wanted in.
AnyTile as_tile(const Operand& operand, DType dtype, const Shape& shape) {
  return operand.is_tile() ? operand.tile() : constant(dtype, shape, operand.number());
}

Shape shape_of(const Operand& operand) {
  return operand.is_tile() ? operand.tile().shape() : Shape{};
}

void require_elements(const AnyTile& tile) {
  if (!tile.is_pointer()) return;
  throw Error(ErrorKind::input, "wanted elements, found " + describe(tile),
              "pointers take integers added or subtracted; load what they point to for the rest");
}

void require_one_dtype(const AnyTile& a, const AnyTile& b) {
  require_elements(a);
  require_elements(b);
  const ir::Type left = a.type();
  const ir::Type right = b.type();
  if (left.dtype != right.dtype) {
    throw Error(ErrorKind::input,
                "tiles of two dtypes do not mix: found " + ir::to_string(left) + " and " +
                    ir::to_string(right),
                "convert one: cast(x, DType::" + dtype_name(left.dtype) + ")");
  }
}

Pair align(const Operand& a, const Operand& b) {
  const DType dtype = (a.is_tile() ? a : b).tile().dtype();
  if (a.is_tile() && b.is_tile()) {
    require_one_dtype(a.tile(), b.tile());
  } else {
    require_elements((a.is_tile() ? a : b).tile());
  }
  const Shape shape = common_shape(shape_of(a), shape_of(b));
  const AnyTile left = as_tile(a, dtype, shape);
  const AnyTile right = as_tile(b, dtype, shape);
  return {broadcast_up(left, shape), broadcast_up(right, shape)};
}

bool is_pointer(const Operand& operand) { return operand.is_tile() && operand.tile().is_pointer(); }

/// Integers as the i32 or i64 that offsets are: wider only where i32 may not hold the value.
AnyTile as_offset(const Operand& operand) {
  if (!operand.is_tile()) {
    if (!operand.number().is_integer()) {
      throw Error(ErrorKind::input,
                  "wanted an integer to add to a pointer, found " + operand.number().text());
    }
    const bool small = operand.number().misfit(DType::i32).empty();
    return constant(small ? DType::i32 : DType::i64, {}, operand.number());
  }
  const AnyTile& tile = operand.tile();
  const ir::Type type = tile.type();
  if (type.pointer || !is_int(type.dtype)) {
    throw Error(ErrorKind::input,
                "wanted integers to add to a pointer, found " + ir::to_string(type));
  }
  const bool wide =
      type.dtype == DType::i64 || type.dtype == DType::u64 || type.dtype == DType::u32;
  return cast_to(tile, wide ? DType::i64 : DType::i32);
}

AnyTile advance(const AnyTile& pointers, const Operand& by, bool backwards) {
  AnyTile elements = as_offset(by);
  // In 64 bits: the lowest i32 has no opposite.
  if (backwards) elements = unary(Opcode::neg, cast_to(elements, DType::i64));
  const Shape shape = common_shape(pointers.shape(), elements.shape());
  const AnyTile base = broadcast_up(pointers, shape);
  const AnyTile steps = broadcast_up(elements, shape);
  return Recorder::wrap(Recorder::builder().offset(Recorder::id(base), Recorder::id(steps)));
}

}  // namespace

std::string describe(const AnyTile& tile) { return ir::to_string(tile.type()); }

Shape common_shape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {  // from the last axis
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) {
      throw Error(
          ErrorKind::input,
          "shapes do not broadcast: found " + ir::to_string(a) + " and " + ir::to_string(b),
          "axes are matched from the last; each pair must be equal or hold a 1: put an axis "
          "of 1 where it belongs with expand_dims");
    }
    result[rank - 1 - i] = std::max(left, right);
  }
  return result;
}

AnyTile unary(Opcode code, const AnyTile& x) {
  return Recorder::wrap(Recorder::builder().unary(code, Recorder::id(x)));
}

AnyTile binary(Opcode code, const Operand& a, const Operand& b) {
  if (code == Opcode::add && is_pointer(a)) return advance(a.tile(), b, false);
  if (code == Opcode::add && is_pointer(b)) return advance(b.tile(), a, false);
  if (code == Opcode::sub && is_pointer(a)) return advance(a.tile(), b, true);
  const auto [left, right] = align(a, b);
  return Recorder::wrap(Recorder::builder().binary(code, Recorder::id(left), Recorder::id(right)));
}

AnyTile compare(ir::Predicate predicate, const Operand& a, const Operand& b) {
  const auto [left, right] = align(a, b);
  return Recorder::wrap(
      Recorder::builder().compare(predicate, Recorder::id(left), Recorder::id(right)));
}

AnyTile select(const AnyTile& condition, const Operand& yes, const Operand& no) {
  if (!yes.is_tile() && !no.is_tile()) {
    throw Error(ErrorKind::input, "where() between two literals has no dtype",
                "make one of them a tile: full<f32>(1.0f)");
  }
  const auto [left, right] = align(yes, no);
  const Shape shape = common_shape(condition.shape(), left.shape());
  const AnyTile mask = broadcast_up(condition, shape);
  const AnyTile a = broadcast_up(left, shape);
  const AnyTile b = broadcast_up(right, shape);
  return Recorder::wrap(
      Recorder::builder().select(Recorder::id(mask), Recorder::id(a), Recorder::id(b)));
}

AnyTile fused_multiply_add(const Operand& a, const Operand& b, const Operand& c) {
  const Operand& first = a.is_tile() ? a : (b.is_tile() ? b : c);
  const DType dtype = first.tile().dtype();
  for (const Operand* one : {&a, &b, &c}) {
    if (one->is_tile()) require_one_dtype(first.tile(), one->tile());
  }
  const Shape shape = common_shape(common_shape(shape_of(a), shape_of(b)), shape_of(c));
  const AnyTile x = as_tile(a, dtype, shape);
  const AnyTile y = as_tile(b, dtype, shape);
  const AnyTile z = as_tile(c, dtype, shape);
  Builder& builder = Recorder::builder();
  const ValueId left = Recorder::id(broadcast_up(x, shape));
  const ValueId right = Recorder::id(broadcast_up(y, shape));
  const ValueId added = Recorder::id(broadcast_up(z, shape));
  return Recorder::wrap(builder.fma(left, right, added));
}

AnyTile invert(const AnyTile& x) {
  if (x.dtype() != DType::boolean || x.is_pointer()) {
    throw Error(ErrorKind::input, "! wants bool, found " + describe(x),
                "compare with zero, or use ~ for the bits of integers");
  }
  return unary(Opcode::bit_not, x);
}

AnyTile constant(DType dtype, const Shape& shape, const Number& value) {
  return Recorder::wrap(
      Recorder::builder().constant(ir::Type::tile(dtype, shape), value.bits(dtype)));
}

AnyTile program_position(int axis) { return Recorder::wrap(Recorder::builder().program_id(axis)); }

AnyTile program_count(int axis) { return Recorder::wrap(Recorder::builder().num_programs(axis)); }

AnyTile iota(std::int64_t start, std::int64_t count) {
  return Recorder::wrap(Recorder::builder().arange(start, count));
}

AnyTile cast_to(const AnyTile& x, DType dtype) {
  const ir::Type type = x.type();
  if (!type.pointer && type.dtype == dtype) return x;
  return Recorder::wrap(Recorder::builder().cast(Recorder::id(x), dtype));
}

AnyTile bitcast_to(const AnyTile& x, DType dtype) {
  const ir::Type type = x.type();
  if (!type.pointer && type.dtype == dtype) return x;
  return Recorder::wrap(Recorder::builder().bitcast(Recorder::id(x), dtype));
}

AnyTile reshape_to(const AnyTile& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return Recorder::wrap(Recorder::builder().reshape(Recorder::id(x), shape));
}

AnyTile broadcast_up(const AnyTile& x, const Shape& shape) {
  const Shape from = x.shape();
  if (from == shape) return x;
  if (common_shape(from, shape) != shape) {
    throw Error(ErrorKind::input, "wanted something that broadcasts to " + ir::to_string(shape) +
                                      ", found " + describe(x));
  }
  AnyTile aligned = x;
  if (!from.empty() && from.size() < shape.size()) {
    Shape padded(shape.size() - from.size(), 1);
    padded.insert(padded.end(), from.begin(), from.end());
    aligned = reshape_to(x, padded);
    if (padded == shape) return aligned;
  }
  return Recorder::wrap(Recorder::builder().broadcast(Recorder::id(aligned), shape));
}

AnyTile permute_axes(const AnyTile& x, const std::vector<int>& dims) {
  return Recorder::wrap(Recorder::builder().permute(Recorder::id(x), dims));
}

AnyTile insert_axis(const AnyTile& x, int axis) {
  Shape shape = x.shape();
  const int count = static_cast<int>(shape.size()) + 1;
  const int at = axis < 0 ? axis + count : axis;
  if (at < 0 || at >= count) {
    throw Error(ErrorKind::input, "expand_dims: wanted an axis from " + std::to_string(-count) +
                                      " to " + std::to_string(count - 1) + " for " + describe(x) +
                                      ", found " + std::to_string(axis));
  }
  shape.insert(shape.begin() + at, 1);
  return reshape_to(x, shape);
}

AnyTile load_elements(const AnyTile& pointers, const std::optional<AnyTile>& mask,
                      const std::optional<Operand>& other, CacheHint cache) {
  const ir::Type type = pointers.type();
  if (!type.pointer) {
    throw Error(ErrorKind::input, "load wants pointers, found " + ir::to_string(type));
  }
  if (other && !mask) {
    throw Error(ErrorKind::input, "load: `other` is for where a mask is off, but there is no mask",
                "give a mask as well: load(p, {.mask = m, .other = x})");
  }
  ValueId mask_id = ir::no_value;
  ValueId other_id = ir::no_value;
  if (mask) mask_id = Recorder::id(broadcast_up(*mask, type.shape));
  if (other)
    other_id = Recorder::id(broadcast_up(as_tile(*other, type.dtype, type.shape), type.shape));
  return Recorder::wrap(Recorder::builder().load(Recorder::id(pointers), mask_id, other_id, cache));
}

void store_elements(const AnyTile& pointers, const Operand& value,
                    const std::optional<AnyTile>& mask, CacheHint cache) {
  const ir::Type type = pointers.type();
  if (!type.pointer) {
    throw Error(ErrorKind::input, "store wants pointers, found " + ir::to_string(type));
  }
  const AnyTile tile = as_tile(value, type.dtype, type.shape);
  if (tile.dtype() != type.dtype || tile.is_pointer()) {
    throw Error(ErrorKind::input,
                "store: wanted " + dtype_name(type.dtype) + " to store through " +
                    ir::to_string(type) + ", found " + describe(tile),
                "convert the value: cast(x, DType::" + dtype_name(type.dtype) + ")");
  }
  const ValueId value_id = Recorder::id(broadcast_up(tile, type.shape));
  const ValueId mask_id = mask ? Recorder::id(broadcast_up(*mask, type.shape)) : ir::no_value;
  Recorder::builder().store(Recorder::id(pointers), value_id, mask_id, cache);
}

AnyTile matrix_product(const AnyTile& a, const AnyTile& b, const std::optional<AnyTile>& acc,
                       Precision precision) {
  const ir::Type left = a.type();
  const ir::Type right = b.type();
  AnyTile sum = a;
  if (acc) {
    sum = *acc;
  } else {
    if (left.rank() != 2 || right.rank() != 2) {
      throw Error(ErrorKind::input, "dot wants tiles of rank 2, found " + ir::to_string(left) +
                                        " and " + ir::to_string(right));
    }
    const DType dtype = left.dtype == DType::f64  ? DType::f64
                        : left.dtype == DType::i8 ? DType::i32
                                                  : DType::f32;
    const Shape shape = {left.shape[0], right.shape[1]};
    if (is_float(dtype)) {
      sum = constant(dtype, shape, 0.0);
    } else {
      sum = constant(dtype, shape, 0);
    }
  }
  return Recorder::wrap(
      Recorder::builder().dot(Recorder::id(a), Recorder::id(b), Recorder::id(sum), precision));
}

void require_type(const AnyTile& tile, const ir::Type& wanted) {
  const ir::Type found = tile.type();
  if (found == wanted) return;
  // A pointer that may be written through may also be read through.
  ir::Type readable = found;
  readable.read_only = wanted.read_only;
  if (wanted.pointer && wanted.read_only && readable == wanted) return;
  throw Error(ErrorKind::input,
              "wanted a " + ir::to_string(wanted) + ", found a " + ir::to_string(found));
}

}  // namespace lang
}  // namespace teeny
