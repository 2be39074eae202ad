// Operations with regions: reductions, fold, if.

#include <utility>

#include "lang/recorder.hpp"

#include "teeny/base/error.hpp"
#include "teeny/lang/control.hpp"

namespace teeny::lang {

namespace {

using ir::Opcode;
using ir::ValueId;
using Ids = std::vector<ValueId>;

std::size_t axis_of(const AnyTile& x, int axis, const char* what) {
  const int rank = x.rank();
  const int at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) {
    throw Error(ErrorKind::input, std::string(what) + ": wanted an axis of " + describe(x) +
                                      ", found " + std::to_string(axis));
  }
  return static_cast<std::size_t>(at);
}

void require_same_types(const Tiles& found, const Tiles& wanted, const char* what) {
  bool same = found.size() == wanted.size();
  for (std::size_t i = 0; same && i < found.size(); ++i) same = found[i].type() == wanted[i].type();
  if (same) return;
  const auto list = [](const Tiles& tiles) {
    std::string text;
    for (const AnyTile& tile : tiles) text += (text.empty() ? "" : ", ") + describe(tile);
    return "(" + text + ")";
  };
  throw Error(ErrorKind::input,
              std::string(what) + ": wanted " + list(wanted) + ", found " + list(found),
              "convert with cast, and give the first values the shape they get: zeros, full or "
              "broadcast_to");
}

}  // namespace

Tiles reduce_axis(const Tiles& tiles, int axis,
                  const std::function<Tiles(const Tiles&, const Tiles&)>& combine) {
  if (tiles.empty()) throw Error(ErrorKind::input, "reduce wants at least one tile");
  const std::size_t at = axis_of(tiles.front(), axis, "reduce");
  const auto count = static_cast<std::ptrdiff_t>(tiles.size());
  const auto region = [&](const Ids& arguments) {
    const Tiles left = Recorder::wrap(Ids(arguments.begin(), arguments.begin() + count));
    const Tiles right = Recorder::wrap(Ids(arguments.begin() + count, arguments.end()));
    const Tiles combined = combine(left, right);
    require_same_types(combined, left, "what the function given to reduce returns");
    return Recorder::ids(combined);
  };
  return Recorder::wrap(
      Recorder::builder().reduce(Recorder::ids(tiles), static_cast<int>(at), region));
}

AnyTile reduce_axis(Opcode code, const AnyTile& x, int axis) {
  const DType dtype = x.dtype();
  if (dtype == DType::boolean || x.is_pointer()) {
    throw Error(ErrorKind::input, "wanted a reduction over numbers, found " + describe(x),
                "count a mask with sum over cast(mask, DType::i32)");
  }
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  // Rounding after each of thousands of additions would lose most of a half's few digits.
  const bool widen = narrow && code == Opcode::add;
  const AnyTile terms = widen ? cast_to(x, DType::f32) : x;
  const Tiles result = reduce_axis(Tiles{terms}, axis, [&](const Tiles& left, const Tiles& right) {
    return Tiles{binary(code, left[0], right[0])};
  });
  return widen ? cast_to(result[0], dtype) : result[0];
}

AnyTile reduce_all(Opcode code, const AnyTile& x) {
  if (x.rank() == 0) return x;
  return reduce_axis(code, reshape_to(x, {ir::element_count(x.shape())}), 0);
}

AnyTile index_of_extreme(const AnyTile& x, int axis, bool largest) {
  const char* const what = largest ? "argmax" : "argmin";
  const std::size_t at = axis_of(x, axis, what);
  const ir::Type type = x.type();
  if (type.pointer || type.dtype == DType::boolean) {
    throw Error(ErrorKind::input, std::string(what) + ": wanted numbers, found " + describe(x));
  }
  Shape along(type.shape.size(), 1);
  along[at] = type.shape[at];
  const AnyTile index = broadcast_up(reshape_to(iota(0, type.shape[at]), along), type.shape);
  const ir::Predicate beats = largest ? ir::Predicate::gt : ir::Predicate::lt;
  // Which of two pairs wins must not depend on which comes left: value, then NaN, then index.
  const auto combine = [&](const Tiles& left, const Tiles& right) {
    const AnyTile earlier = compare(ir::Predicate::lt, left[1], right[1]);
    AnyTile equal = compare(ir::Predicate::eq, left[0], right[0]);
    AnyTile wins = compare(beats, left[0], right[0]);
    if (is_float(type.dtype)) {
      const AnyTile left_nan = compare(ir::Predicate::ne, left[0], left[0]);
      const AnyTile right_nan = compare(ir::Predicate::ne, right[0], right[0]);
      equal = binary(Opcode::bit_or, equal, binary(Opcode::bit_and, left_nan, right_nan));
      const AnyTile only_left = binary(Opcode::bit_and, left_nan, invert(right_nan));
      wins = binary(Opcode::bit_or, wins, only_left);
    }
    wins = binary(Opcode::bit_or, wins, binary(Opcode::bit_and, equal, earlier));
    return Tiles{select(wins, left[0], right[0]), select(wins, left[1], right[1])};
  };
  return reduce_axis(Tiles{x, index}, static_cast<int>(at), combine)[1];
}

Tiles fold_range(const AnyTile& lo, const AnyTile& hi, const AnyTile& step, const Tiles& inits,
                 const std::function<Tiles(const AnyTile&, const Tiles&)>& body) {
  const auto region = [&](const Ids& arguments) {
    const Tiles state = Recorder::wrap(Ids(arguments.begin() + 1, arguments.end()));
    const Tiles next = body(Recorder::wrap(arguments[0]), state);
    require_same_types(next, state, "what the body of a fold returns");
    return Recorder::ids(next);
  };
  return Recorder::wrap(Recorder::builder().fold(Recorder::id(lo), Recorder::id(hi),
                                                 Recorder::id(step), Recorder::ids(inits), region));
}

Tiles branch(const AnyTile& condition, const std::function<Tiles()>& yes,
             const std::function<Tiles()>& no) {
  if (condition.type() != ir::Type::scalar(DType::boolean)) {
    throw Error(ErrorKind::input, "if_ wants one bool, found " + describe(condition),
                "choose element by element with where()");
  }
  const auto yes_ids = [&] { return Recorder::ids(yes()); };
  const auto no_ids = [&] { return Recorder::ids(no()); };
  return Recorder::wrap(Recorder::builder().if_(Recorder::id(condition), yes_ids, no_ids));
}

void require_positive_step(const Operand& step) {
  if (step.is_tile()) return;
  if (step.number().is_integer() && step.number().misfit(DType::u64).empty() &&
      step.number().bits(DType::u64) != 0) {
    return;
  }
  throw Error(ErrorKind::input, "a range wants a step of 1 or more, found " + step.number().text(),
              "count down by computing n - 1 - i in the body");
}

DType dtype_of_bounds(const Operand& lo, const Operand& hi, const Operand& step) {
  for (const Operand* bound : {&lo, &hi, &step}) {
    if (bound->is_tile()) return bound->tile().dtype();
  }
  return DType::i32;
}

AnyTile range_bound(const Operand& bound, DType dtype) {
  return bound.is_tile() ? bound.tile() : constant(dtype, {}, bound.number());
}

}  // namespace teeny::lang
