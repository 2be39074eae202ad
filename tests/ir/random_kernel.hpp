#pragma once

// Seeded random kernels for tests. Together they use every opcode, nested regions and every element
// type, and every value of them is defined and moderate, so that two backends, given equal buffers,
// must agree within `tolerance`.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/ir/random_values.hpp"

namespace teeny::ir {

class RandomKernelMaker : private RandomValues {
 public:
  RandomKernelMaker(std::uint32_t seed, RandomKernelOptions options)
      : RandomValues(seed, options) {}

  RandomKernel make() {
    for (int i = 0; i < options_.steps; ++i) step(0);
    // Enough effects, so that little of the above is dead.
    for (int i = 0; i < options_.steps / 2; ++i) store_something(0, pool_.size());
    return {builder_.finish(), std::move(outputs_)};
  }

 private:
  // --- elementwise ---

  void constant_leaves() {
    switch (below(3)) {
      case 0:
        add_exact(builder_.program_id(static_cast<int>(below(3))));
        break;
      case 1:
        add_exact(builder_.num_programs(static_cast<int>(below(3))));
        break;
      default: {
        const std::int64_t start = static_cast<std::int64_t>(below(200)) - 100;
        add_exact(builder_.arange(start, std::int64_t{1} << below(8)));
      }
    }
  }

  void cast() {
    const DType from = any_dtype();
    const DType to = any_dtype();
    const Shape shape = any_shape();
    const bool from_float = is_float(from);
    Value value = get(from, shape, from_float && !is_float(to));
    if (is_int(from) && is_float(to)) {  // whatever it is, make it small
      const ValueId seven = builder_.constant(value.type, encode(from, std::int64_t{7}));
      value.id = builder_.binary(Opcode::rem, value.id, seven);
      value.bound = 7;
    }
    if (from == DType::boolean) value.bound = 1;
    // Narrowing an exact float is exact in the sense used here: every backend rounds alike.
    add(builder_.cast(value.id, to), value.bound, rounded(to, value.bound, value.error));
  }

  void bitcast() {
    const Shape shape = any_shape();
    switch (below(3)) {
      case 0: {
        const DType from = any_int();
        for (const DType to : {DType::u8, DType::i16, DType::u32, DType::i64}) {
          if (bits_of(to) == bits_of(from)) add_exact(builder_.bitcast(get(from, shape).id, to));
        }
        break;
      }
      case 1: {  // positive ones only: backends may differ in the sign of a zero
        const Value value = get(any_float(), shape, true);
        const ValueId positive = positive_part(value).id;
        static const std::vector<DType> ints = {DType::i16, DType::u32, DType::i64};
        for (const DType to : ints) {
          if (bits_of(to) == bits_of(value.type.dtype)) add_exact(builder_.bitcast(positive, to));
        }
        break;
      }
      default: {  // sign bit set by hand
        const Value value = get(DType::f32, shape, true);
        const ValueId bits = builder_.bitcast(value.id, DType::u32);
        const ValueId sign = builder_.constant(Type::tile(DType::u32, shape), 0x80000000U);
        add(builder_.bitcast(builder_.binary(Opcode::bit_or, bits, sign), DType::f32), value.bound,
            0);
      }
    }
  }

  /// |x| + 0.5
  Value positive_part(const Value& value) {
    const ValueId half = number(value.type.dtype, value.type.shape, 0.5);
    const double bound = value.bound + 0.5;
    return {builder_.binary(Opcode::add, builder_.unary(Opcode::abs, value.id), half), value.type,
            bound, rounded(value.type.dtype, bound, value.error)};
  }

  void float_unary() {
    static const std::vector<Opcode> codes = {
        Opcode::exp,   Opcode::exp2, Opcode::log, Opcode::log2, Opcode::sqrt,
        Opcode::rsqrt, Opcode::sin,  Opcode::cos, Opcode::tanh, Opcode::sigmoid,
        Opcode::erf,   Opcode::neg,  Opcode::abs};
    const Opcode code = one_of(codes);
    Value value = any(any_float());
    const DType dtype = value.type.dtype;
    double bound = 2;    // of the result
    double slope = 1.5;  // of the function, where it is used
    switch (code) {
      case Opcode::neg:
      case Opcode::abs:
        add(builder_.unary(code, value.id), value.bound, value.error);
        return;
      case Opcode::exp:
      case Opcode::exp2:
        value = clamped(value, 2.0);
        bound = slope = 8;
        break;
      case Opcode::log:
      case Opcode::log2:
        value = positive_part(value);
        bound = 4.2;
        slope = 3;
        break;
      case Opcode::sqrt:
      case Opcode::rsqrt:
        value = positive_part(value);
        bound = 4.2;
        break;
      default:
        break;
    }
    // The function itself may be off by a few units, relative to the largest result.
    const double error = slope * value.error + 4 * rounding(dtype, bound);
    add(builder_.unary(code, value.id), bound, error);
  }

  void float_steps() {  // not continuous: equal operands only
    static const std::vector<Opcode> codes = {Opcode::floor, Opcode::ceil, Opcode::round};
    const Value value = any(any_float(), true);
    if (chance(25)) {
      const Value divisor = positive_part(get(value.type.dtype, value.type.shape, true));
      add(builder_.binary(Opcode::rem, value.id, divisor.id), divisor.bound, 0);
    } else {
      add(builder_.unary(one_of(codes), value.id), value.bound + 1, 0);
    }
  }

  void float_binary() {
    static const std::vector<Opcode> codes = {Opcode::add,    Opcode::sub, Opcode::mul,
                                              Opcode::div,    Opcode::fma, Opcode::minimum,
                                              Opcode::maximum};
    const Opcode code = one_of(codes);
    const Value a = any(any_float());
    const DType dtype = a.type.dtype;
    Value b = get(dtype, a.type.shape);
    const double product_error = a.bound * b.error + b.bound * a.error + a.error * b.error;
    switch (code) {
      case Opcode::mul: {
        const double bound = a.bound * b.bound;
        add(builder_.binary(code, a.id, b.id), bound, rounded(dtype, bound, product_error));
        break;
      }
      case Opcode::div: {
        b = positive_part(b);
        const double bound = 2 * a.bound;
        const double error = 2 * a.error + 4 * a.bound * b.error;
        add(builder_.binary(code, a.id, b.id), bound, error + 2 * rounding(dtype, bound));
        break;
      }
      case Opcode::fma: {
        const Value c = get(dtype, a.type.shape);
        const double bound = a.bound * b.bound + c.bound;
        add(builder_.fma(a.id, b.id, c.id), bound, rounded(dtype, bound, product_error + c.error));
        break;
      }
      case Opcode::minimum:
      case Opcode::maximum:
        add(builder_.binary(code, a.id, b.id), std::max(a.bound, b.bound),
            std::max(a.error, b.error));
        break;
      default: {
        const double bound = a.bound + b.bound;
        add(builder_.binary(code, a.id, b.id), bound, rounded(dtype, bound, a.error + b.error));
      }
    }
  }

  void int_op() {
    static const std::vector<Opcode> codes = {Opcode::add,     Opcode::sub,    Opcode::mul,
                                              Opcode::div,     Opcode::rem,    Opcode::minimum,
                                              Opcode::maximum, Opcode::bit_or, Opcode::bit_and,
                                              Opcode::shl,     Opcode::shr,    Opcode::bit_xor};
    static const std::vector<Opcode> unary = {Opcode::neg, Opcode::abs, Opcode::bit_not};
    const Shape shape = any_shape();
    if (chance(10)) {
      const DType dtype = chance(50) ? DType::u32 : DType::u64;
      const ValueId left = get(dtype, shape).id;
      add_exact(builder_.binary(Opcode::umulhi, left, get(dtype, shape).id));
      return;
    }
    const Value a = get(any_int(), shape);
    if (chance(20)) {
      add_exact(builder_.unary(one_of(unary), a.id));
    } else {
      const Value b = get(a.type.dtype, shape);
      add_exact(builder_.binary(one_of(codes), a.id, b.id));
    }
  }

  void bool_op() {
    static const std::vector<Opcode> codes = {Opcode::bit_or, Opcode::bit_and, Opcode::bit_xor};
    const Shape shape = any_shape();
    if (chance(20)) {
      add_exact(builder_.unary(Opcode::bit_not, condition(shape)));
    } else if (chance(30)) {
      const ValueId left = condition(shape);
      const ValueId right = condition(shape);
      add_exact(builder_.binary(one_of(codes), left, right));
    } else {
      const Value left = get(any_dtype(), shape, true);
      const Value right = get(left.type.dtype, shape, true);
      add_exact(builder_.compare(one_of(all_predicates()), left.id, right.id));
    }
  }

  void select() {
    const Value yes = any(any_dtype());
    const Value no = get(yes.type.dtype, yes.type.shape);
    add(builder_.select(condition(yes.type.shape), yes.id, no.id), std::max(yes.bound, no.bound),
        std::max(yes.error, no.error));
  }

  // --- shapes ---

  void reshape() {
    const Value value = any(any_dtype());
    switch (below(3)) {
      case 0: {
        static const std::vector<Shape> wanted = {{64}, {8, 8}, {4, 1, 16}, {1, 64}, {2, 32}};
        const Value from = get(value.type.dtype, {64});
        add(builder_.reshape(from.id, one_of(wanted)), from.bound, from.error);
        break;
      }
      case 1: {
        Shape shape = value.type.shape;
        for (std::int64_t& extent : shape) {
          if (extent == 1) extent = 4;
        }
        if (shape.empty()) shape = {2, 8};
        add(builder_.broadcast(value.id, shape), value.bound, value.error);
        break;
      }
      default: {
        std::vector<int> dims(value.type.shape.size());
        for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int>(i);
        for (std::size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[below(i)]);
        add(builder_.permute(value.id, dims), value.bound, value.error);
      }
    }
  }

  // --- pointers as values ---

  void pointer_walk() {
    const DType dtype = any_dtype();
    const Shape shape = any_shape();
    const ValueId near = pointers(input(dtype), shape, row_major(shape));
    const ValueId far = builder_.offset(near, spread(integer(DType::i64, 100), shape));
    const ValueId start = builder_.select(condition(shape), near, far);
    const ValueId lo = integer(DType::i32, 0);
    const ValueId hi = integer(DType::i32, static_cast<std::int64_t>(below(6)));
    const Values end =
        builder_.fold(lo, hi, integer(DType::i32, 1), {start}, [&](const Values& arguments) {
          return Values{builder_.offset(arguments[1], spread(integer(DType::i32, 32), shape))};
        });
    add(builder_.load(end[0]), 2, 0);
  }

  // --- dot ---

  void dot() {
    static const std::vector<DType> dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64,
                                              DType::i8};
    static const std::vector<std::array<std::int64_t, 3>> sizes = {
        {16, 16, 16}, {8, 16, 4}, {4, 16, 8}, {16, 4, 16}, {1, 8, 8}, {32, 16, 8}};
    const auto [m, n, k] = one_of(sizes);
    const DType dtype = one_of(dtypes);
    const DType sum = dtype == DType::i8    ? DType::i32
                      : dtype == DType::f64 ? DType::f64
                                            : DType::f32;
    const bool tf32 = dtype == DType::f32 && chance(30);
    const Precision precision = tf32 ? Precision::tf32 : Precision::ieee;
    const Value a = get(dtype, {m, k});
    const Value b = get(dtype, {k, n});
    const Value acc = get(sum, {m, n});
    const double terms = static_cast<double>(k);
    const double step = terms * a.bound * b.bound;
    double carried = terms * (a.bound * b.error + b.bound * a.error + a.error * b.error);
    if (tf32) carried += step * std::ldexp(1.0, -9);
    const std::int64_t rounds = chance(40) ? 1 + static_cast<std::int64_t>(below(3)) : 1;
    const double bound = acc.bound + static_cast<double>(rounds) * step;
    const double error =
        acc.error + static_cast<double>(rounds) * (carried + terms * rounding(sum, bound));
    if (rounds == 1) {
      add(builder_.dot(a.id, b.id, acc.id, precision), bound, error);
      return;
    }
    const ValueId lo = integer(DType::i32, 0);
    const ValueId hi = integer(DType::i32, rounds);
    const Values sums =
        builder_.fold(lo, hi, integer(DType::i32, 1), {acc.id}, [&](const Values& arguments) {
          return Values{builder_.dot(a.id, b.id, arguments[1], precision)};
        });
    add(sums[0], bound, error);
  }

  // --- regions ---

  void reduce() {
    Shape shape = any_shape();
    if (shape.empty()) shape = {16};
    const auto axis = below(shape.size());
    const auto extent = static_cast<double>(shape[axis]);
    if (chance(30)) {
      arg_reduce(shape, static_cast<int>(axis));
      return;
    }
    static const std::vector<Opcode> any = {Opcode::add, Opcode::minimum, Opcode::maximum};
    static const std::vector<Opcode> bits = {Opcode::bit_and, Opcode::bit_or, Opcode::bit_xor};
    const DType dtype = any_dtype();
    const bool bitwise = dtype == DType::boolean || (is_int(dtype) && chance(40));
    const Opcode code = bitwise ? one_of(bits) : one_of(any);
    const Value value = get(dtype, shape);
    const Values result = builder_.reduce(
        {value.id}, static_cast<int>(axis),
        [&](const Values& pair) { return Values{builder_.binary(code, pair[0], pair[1])}; });
    if (code == Opcode::add && is_float(dtype)) {
      const double bound = extent * value.bound;
      add(result[0], bound, extent * (value.error + rounding(dtype, bound)));
    } else {
      add(result[0], value.bound, value.error);
    }
  }

  /// The greatest element and the least of the indices where it stands.
  void arg_reduce(const Shape& shape, int axis) {
    const Value value = get(any_dtype(), shape, true);
    const Values result =
        builder_.reduce({value.id, row_major(shape)}, axis, [&](const Values& pair) {
          const ValueId greater = builder_.compare(Predicate::gt, pair[0], pair[2]);
          const ValueId equal = builder_.compare(Predicate::eq, pair[0], pair[2]);
          const ValueId before = builder_.compare(Predicate::lt, pair[1], pair[3]);
          const ValueId first = builder_.binary(Opcode::bit_or, greater,
                                                builder_.binary(Opcode::bit_and, equal, before));
          const ValueId best = builder_.select(first, pair[0], pair[2]);
          return Values{best, builder_.select(first, pair[1], pair[3])};
        });
    add(result[0], value.bound, 0);
    add_exact(result[1]);
  }

  /// Runs `body` with values added only there, and forgets them.
  template <class Body>
  auto inside(const Body& body) {
    const std::size_t size = pool_.size();
    auto result = body();
    pool_.resize(size);
    return result;
  }

  void fold(int depth) {
    const DType index = chance(60) ? DType::i32 : any_int();
    std::vector<Value> inits;
    for (std::size_t i = 0, count = below(4); i < count; ++i) {
      inits.push_back(any(any_dtype(), true));
    }
    Values ids;
    for (const Value& init : inits) ids.push_back(init.id);
    const ValueId lo = integer(index, static_cast<std::int64_t>(below(3)));
    const ValueId hi = integer(index, static_cast<std::int64_t>(below(12)));
    const ValueId step_size = integer(index, 1 + static_cast<std::int64_t>(below(3)));
    const Values results = builder_.fold(lo, hi, step_size, ids, [&](const Values& arguments) {
      return inside([&] {
        add_exact(arguments[0]);
        for (std::size_t i = 0; i < inits.size(); ++i) add(arguments[i + 1], inits[i].bound, 0);
        steps(depth + 1);
        Values yields;
        for (const Value& init : inits) {
          // Exact and within the bound, so that rounds do not pile up what nobody can bound.
          Value value = get(init.type.dtype, init.type.shape, true);
          if (is_float(init.type.dtype) && value.bound > init.bound)
            value = clamped(value, init.bound);
          yields.push_back(value.id);
        }
        return yields;
      });
    });
    for (std::size_t i = 0; i < inits.size(); ++i) add(results[i], inits[i].bound, 0);
  }

  void if_(int depth) {
    const ValueId when = condition({});
    std::vector<Type> types;
    for (std::size_t i = 0, count = below(3); i < count; ++i) {
      const DType dtype = any_dtype();
      types.push_back(Type::tile(dtype, any_shape()));
    }
    std::vector<Value> known(types.size());
    const auto branch = [&] {
      return inside([&] {
        steps(depth + 1);
        Values yields;
        for (std::size_t i = 0; i < types.size(); ++i) {
          const Value value = get(types[i].dtype, types[i].shape);
          known[i].bound = std::max(known[i].bound, value.bound);
          known[i].error = std::max(known[i].error, value.error);
          yields.push_back(value.id);
        }
        return yields;
      });
    };
    const Values results = builder_.if_(when, branch, branch);
    for (std::size_t i = 0; i < types.size(); ++i) add(results[i], known[i].bound, known[i].error);
  }

  void steps(int depth) {
    for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) step(depth);
  }

  void step(int depth) {
    constexpr int deepest = 3;
    switch (below(20)) {
      case 0:
        constant_leaves();
        break;
      case 1:
      case 2:
        cast();
        break;
      case 3:
        bitcast();
        break;
      case 4:
      case 5:
        float_unary();
        break;
      case 6:
        float_steps();
        break;
      case 7:
      case 8:
        float_binary();
        break;
      case 9:
      case 10:
        int_op();
        break;
      case 11:
        bool_op();
        break;
      case 12:
        select();
        break;
      case 13:
        reshape();
        break;
      case 14:
        load_view();
        break;
      case 15:
        chance(50) ? pointer_walk() : dot();
        break;
      case 16:
        reduce();
        break;
      case 17:
        store_something(depth);
        break;
      case 18:
        if (depth < deepest) fold(depth);
        break;
      default:
        if (depth < deepest) if_(depth);
        break;
    }
  }
};

[[nodiscard]] inline RandomKernel random_kernel(std::uint32_t seed,
                                                RandomKernelOptions options = {}) {
  return RandomKernelMaker(seed, options).make();
}

}  // namespace teeny::ir
