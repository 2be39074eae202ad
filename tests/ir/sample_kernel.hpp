#pragma once

#include <string>
#include <vector>

#include "teeny/ir/builder.hpp"

namespace teeny::ir {

/// A kernel written by hand in which nothing is dead and nothing is said twice, so that each change
/// of it is another kernel. It holds every kind of operation.
inline Kernel sample_kernel(const std::string& name = "sample", KernelOptions options = {}) {
  using Values = std::vector<ValueId>;
  Builder b(name,
            {Type::pointer_to(DType::f32, true), Type::pointer_to(DType::f32),
             Type::pointer_to(DType::i32), Type::scalar(DType::i32), Type::scalar(DType::i64),
             Type::pointer_to(DType::u32)},
            options);
  const ValueId in = b.parameter(0);
  const ValueId out = b.parameter(1);
  const ValueId ints = b.parameter(2);
  const ValueId n = b.parameter(3);
  const ValueId wide = b.parameter(4);
  const ValueId words = b.parameter(5);
  const auto i32 = [&](std::int64_t v) {
    return b.constant(Type::scalar(DType::i32), encode(DType::i32, v));
  };
  const auto i64 = [&](std::int64_t v) {
    return b.constant(Type::scalar(DType::i64), encode(DType::i64, v));
  };
  const auto f32 = [&](double v, Shape shape) {
    return b.constant(Type::tile(DType::f32, std::move(shape)), encode(DType::f32, v));
  };

  // Element by element.
  const ValueId block = b.binary(Opcode::mul, b.program_id(0), i32(64));
  const ValueId lanes = b.arange(0, 64);
  const ValueId at = b.binary(Opcode::add, b.broadcast(block, {64}), lanes);
  const ValueId inside = b.compare(Predicate::lt, at, b.broadcast(n, {64}));
  const ValueId from = b.offset(b.broadcast(in, {64}), at);
  const ValueId x = b.load(from, inside, f32(0.25, {64}));
  const ValueId e = b.unary(Opcode::exp, b.binary(Opcode::sub, x, f32(3, {64})));
  const ValueId y = b.fma(e, x, b.unary(Opcode::tanh, x));
  const ValueId z = b.select(b.compare(Predicate::gt, y, x), y, b.unary(Opcode::neg, x));
  b.store(b.offset(b.broadcast(out, {64}), at), z, inside);

  // Integers, conversions.
  const ValueId count = b.cast(z, DType::i32);
  const ValueId mixed = b.binary(Opcode::bit_xor, count, b.binary(Opcode::shl, at, lanes));
  const ValueId bits = b.bitcast(x, DType::i32);
  const ValueId sum = b.binary(Opcode::rem, mixed, b.binary(Opcode::bit_or, bits, lanes));
  b.store(b.offset(b.broadcast(ints, {64}), at), sum);
  const ValueId high = b.binary(Opcode::umulhi, b.bitcast(sum, DType::u32),
                                b.cast(b.cast(at, DType::i64), DType::u32));
  b.store(b.offset(b.broadcast(words, {64}), at), high, b.unary(Opcode::bit_not, inside),
          Cache::streaming);

  // Views, shapes, dot, in a fold.
  const ValueId extent = b.cast(b.num_programs(1), DType::i64);
  const auto view = [&](ValueId row, ValueId column, Shape shape) {
    return b.load_view(in, {wide, extent}, {i64(128), i64(1)}, {row, column}, std::move(shape),
                       encode(DType::f32, 1.5));
  };
  const Values product = b.fold(i64(0), wide, i64(8), {f32(0, {4, 16})}, [&](const Values& a) {
    const ValueId left = view(i64(5), a[0], {4, 8});
    const ValueId right = b.permute(view(a[0], i64(7), {16, 8}), {1, 0});
    return Values{b.dot(left, right, a[1], Precision::tf32)};
  });
  b.store_view(out, {wide, i64(16)}, {i64(32), i64(2)}, {i64(-1), extent}, product[0]);

  // Reductions, and writes inside of regions.
  const ValueId folded = b.reshape(product[0], {64});
  const Values best = b.reduce({folded, lanes}, 0, [&](const Values& p) {
    const ValueId left = b.binary(Opcode::bit_or, b.compare(Predicate::gt, p[0], p[2]),
                                  b.binary(Opcode::bit_and, b.compare(Predicate::eq, p[0], p[2]),
                                           b.compare(Predicate::lt, p[1], p[3])));
    return Values{b.select(left, p[0], p[2]), b.select(left, p[1], p[3])};
  });
  const Values chosen = b.if_(
      b.compare(Predicate::ge, best[1], i32(11)),
      [&] {
        b.store(ints, best[1]);
        const ValueId again = b.load(ints);
        return Values{b.binary(Opcode::mul, best[0], b.cast(again, DType::f32))};
      },
      [&] { return Values{b.unary(Opcode::sqrt, best[0])}; });
  b.fold(i32(1), n, i32(2), {}, [&](const Values& a) {
    const ValueId place = b.offset(out, a[0]);
    const ValueId old = b.load(place);
    b.store(place, b.binary(Opcode::div, old, chosen[0]));
    b.store(b.offset(out, b.binary(Opcode::minimum, a[0], n)), chosen[0]);
    return Values{};
  });
  return b.finish();
}

}  // namespace teeny::ir
