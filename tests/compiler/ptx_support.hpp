#pragma once

// Kernels to be compiled to PTX, and ptxas to judge what came out. No GoogleTest in here.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/ir/builder.hpp"
#include "teeny/target/capability.hpp"

namespace teeny::compiler {

/// The assemblers that a program of this build would find.
inline FoundAssemblers all_assemblers() {
  return find_assemblers(std::filesystem::path(TEENY_BUILD_DIR) / "bin" / "teenyc");
}

/// One of that CUDA major release.
inline std::optional<Assembler> find_ptxas_of(int major) {
  for (const Assembler& assembler : all_assemblers().usable) {
    if (assembler.version.major == major) return assembler;
  }
  return std::nullopt;
}

/// The newest one that makes machine code of that capability. Throws where there is none: what
/// needs it fails.
inline Assembler find_ptxas_for(Capability capability) {
  const FoundAssemblers found = all_assemblers();
  std::vector<AssemblerVersion> versions;
  for (const Assembler& assembler : found.usable) versions.push_back(assembler.version);
  const auto at = choose_assembler(versions, newest_driver(), capability, std::nullopt);
  if (!at) throw std::runtime_error("no ptxas for " + capability.name() + ": run ./setup");
  return found.usable.at(*at);
}

/// What ptxas says of some kernels.
struct Assembled {
  bool good = false;
  std::string log;
  std::map<std::string, int> registers = {};    ///< by kernel
  std::map<std::string, int> spill_bytes = {};  ///< by kernel
};

/// Assembles PTX texts, in one go, for the chip they were written for.
inline Assembled assemble(const std::vector<std::string>& texts, Capability capability) {
  const TemporaryDirectory directory("teeny-ptxas");
  Command command{.argv = {find_ptxas_for(capability).program.string(), "-v",
                           "-arch=" + capability.name(), "-o", "all.cubin"},
                  .directory = directory.path()};
  for (const std::string& text : texts) {
    command.argv.push_back(std::to_string(command.argv.size()) + ".ptx");
    write_file(directory.path() / command.argv.back(), text);
  }
  const ProcessResult result = run(command);
  Assembled assembled{.good = result.exit_code == 0, .log = result.output + result.error};
  // Compiling entry function 'NAME' ... N bytes spill stores ... Used N registers
  const std::string& log = assembled.log;
  const std::string begin = "Compiling entry function '";
  for (std::size_t at = log.find(begin); at != std::string::npos; at = log.find(begin, at + 1)) {
    const std::size_t first = at + begin.size();
    const std::string name = log.substr(first, log.find('\'', first) - first);
    const std::size_t spills = log.find(" bytes spill stores", at);
    const std::size_t used = log.find("Used ", at);
    if (spills == std::string::npos || used == std::string::npos) continue;
    const std::size_t number = log.rfind(' ', spills - 1) + 1;
    assembled.spill_bytes[name] = std::atoi(log.c_str() + number);
    assembled.registers[name] = std::atoi(log.c_str() + used + 5);
  }
  return assembled;
}

/// Every chip that PTX is written for.
inline std::vector<Capability> all_capabilities() {
  std::vector<Capability> all;
  for (const auto& info : known_capabilities()) all.push_back(info.capability);
  return all;
}

struct SampleKernel {
  ir::Kernel kernel;
};

/// A set that takes every path of the lowering.
inline std::vector<SampleKernel> sample_kernels();

namespace sample {

using ir::Builder;
using ir::Opcode;
using ir::Predicate;
using ir::Shape;
using ir::Type;
using ir::ValueId;

inline ValueId index_constant(Builder& builder, std::int64_t value, Shape shape = {}) {
  return builder.constant(Type::tile(DType::i32, std::move(shape)), encode(DType::i32, value));
}

/// base + program_id * count + range, over `shape` in row-major order.
inline ValueId elements(Builder& builder, Shape shape) {
  const std::int64_t count = ir::element_count(shape);
  const ValueId start =
      builder.binary(Opcode::mul, builder.program_id(0), index_constant(builder, count));
  ValueId range = builder.arange(0, count);
  range = builder.binary(Opcode::add, range, builder.broadcast(start, {count}));
  return builder.reshape(range, shape);
}

inline ValueId pointers(Builder& builder, std::size_t parameter, ValueId index) {
  const Shape shape = builder.type(index).shape;
  return builder.offset(builder.broadcast(builder.parameter(parameter), shape), index);
}

/// out[i] = f(a[i], b[i]) where i < n.
inline ir::Kernel elementwise(const std::string& name, DType in, DType out, std::int64_t block,
                              const std::function<ValueId(Builder&, ValueId, ValueId)>& f,
                              bool in_place = false, ir::Cache cache = ir::Cache::automatic) {
  Builder builder(name, {Type::pointer_to(in, !in_place), Type::pointer_to(in, true),
                         Type::pointer_to(out), Type::scalar(DType::i32)});
  const ValueId index = elements(builder, {block});
  const ValueId inside =
      builder.compare(Predicate::lt, index, builder.broadcast(builder.parameter(3), {block}));
  const ValueId a = builder.load(pointers(builder, 0, index), inside, ir::no_value, cache);
  const ValueId b = builder.load(pointers(builder, 1, index), inside, ir::no_value, cache);
  builder.store(pointers(builder, in_place ? 0 : 2, index), f(builder, a, b), inside, cache);
  return builder.finish();
}

inline ir::Kernel vector_add(DType dtype, std::int64_t block = 1024) {
  return elementwise("vector_add_" + std::string(name(dtype)), dtype, dtype, block,
                     [](Builder& builder, ValueId a, ValueId b) {
                       return builder.type(a).dtype == DType::boolean
                                  ? builder.binary(Opcode::bit_xor, a, b)
                                  : builder.binary(Opcode::add, a, b);
                     });
}

inline ValueId sum(Builder& builder, ValueId tile, int axis) {
  return builder.reduce({tile}, axis, [&](const Builder::Values& values) {
    return Builder::Values{builder.binary(Opcode::add, values[0], values[1])};
  })[0];
}

inline ValueId greatest(Builder& builder, ValueId tile, int axis) {
  return builder.reduce({tile}, axis, [&](const Builder::Values& values) {
    return Builder::Values{builder.binary(Opcode::maximum, values[0], values[1])};
  })[0];
}

inline ir::Kernel softmax(DType dtype, std::int64_t block) {
  Builder builder(
      "softmax_" + std::string(name(dtype)),
      {Type::pointer_to(dtype, true), Type::pointer_to(dtype), Type::scalar(DType::i32)});
  const ValueId columns = builder.parameter(2);
  const ValueId column = builder.arange(0, block);
  const ValueId inside =
      builder.compare(Predicate::lt, column, builder.broadcast(columns, {block}));
  const ValueId row = builder.binary(Opcode::mul, builder.program_id(0), columns);
  const ValueId index = builder.binary(Opcode::add, builder.broadcast(row, {block}), column);
  ValueId x = builder.load(pointers(builder, 0, index), inside);
  if (dtype != DType::f32) x = builder.cast(x, DType::f32);
  const ValueId lowest =
      builder.constant(Type::tile(DType::f32, {block}), encode(DType::f32, -1e30));
  x = builder.select(inside, x, lowest);
  const ValueId top = builder.broadcast(greatest(builder, x, 0), {block});
  x = builder.unary(Opcode::exp, builder.binary(Opcode::sub, x, top));
  const ValueId zero = builder.constant(Type::tile(DType::f32, {block}), 0);
  const ValueId total = sum(builder, builder.select(inside, x, zero), 0);
  x = builder.binary(Opcode::div, x, builder.broadcast(total, {block}));
  if (dtype != DType::f32) x = builder.cast(x, dtype);
  builder.store(pointers(builder, 1, index), x, inside);
  return builder.finish();
}

/// Sum along one axis of a tile, and the tile with that taken off again.
inline ir::Kernel reduce_and_center(DType dtype, const Shape& shape, int axis, int num_warps) {
  Builder builder("center_" + std::string(name(dtype)) + "_" + std::to_string(shape.size()) +
                      "d_axis" + std::to_string(axis) + "_w" + std::to_string(num_warps),
                  {Type::pointer_to(dtype, true), Type::pointer_to(dtype), Type::pointer_to(dtype)},
                  {.num_warps = num_warps});
  const ValueId index = elements(builder, shape);
  const ValueId x = builder.load(pointers(builder, 0, index));
  const ValueId total = sum(builder, x, axis);
  Shape rest = shape;
  rest.erase(rest.begin() + axis);
  if (!rest.empty()) {
    builder.store(pointers(builder, 2, elements(builder, rest)), total);
  } else {
    builder.store(builder.parameter(2), total);
  }
  Shape kept = shape;
  kept[static_cast<std::size_t>(axis)] = 1;
  const ValueId again = builder.broadcast(builder.reshape(total, kept), shape);
  builder.store(pointers(builder, 1, index), builder.binary(Opcode::sub, x, again));
  return builder.finish();
}

/// Every reduction that one instruction can do.
inline ir::Kernel integer_reductions(DType dtype) {
  using enum Opcode;
  const std::vector<Opcode> codes = {add, minimum, maximum, bit_and, bit_or, bit_xor, mul};
  Builder builder("reductions_" + std::string(name(dtype)),
                  {Type::pointer_to(dtype, true), Type::pointer_to(dtype)});
  const ValueId x = builder.load(pointers(builder, 0, elements(builder, {256})));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const ValueId total = builder.reduce({x}, 0, [&](const Builder::Values& values) {
      return Builder::Values{builder.binary(codes[i], values[0], values[1])};
    })[0];
    builder.store(
        builder.offset(builder.parameter(1), index_constant(builder, static_cast<std::int64_t>(i))),
        total);
  }
  return builder.finish();
}

/// Greatest element and where it is: two operands, a function that is not symmetric in its text.
inline ir::Kernel argmax(const Shape& shape, int axis) {
  Builder builder("argmax_" + std::to_string(shape.size()) + "d_axis" + std::to_string(axis),
                  {Type::pointer_to(DType::f32, true), Type::pointer_to(DType::i32)});
  const ValueId index = elements(builder, shape);
  const ValueId x = builder.load(pointers(builder, 0, index));
  const auto at = static_cast<std::size_t>(axis);
  Shape along(shape.size(), 1);
  along[at] = shape[at];
  const ValueId place =
      builder.broadcast(builder.reshape(builder.arange(0, shape[at]), along), shape);
  const auto best = builder.reduce({x, place}, axis, [&](const Builder::Values& v) {
    const ValueId greater = builder.compare(Predicate::gt, v[0], v[2]);
    const ValueId equal = builder.compare(Predicate::eq, v[0], v[2]);
    const ValueId lower = builder.compare(Predicate::lt, v[1], v[3]);
    const ValueId first =
        builder.binary(Opcode::bit_or, greater, builder.binary(Opcode::bit_and, equal, lower));
    return Builder::Values{builder.select(first, v[0], v[2]), builder.select(first, v[1], v[3])};
  });
  Shape rest = shape;
  rest.erase(rest.begin() + axis);
  if (rest.empty()) {
    builder.store(builder.parameter(1), best[1]);
  } else {
    builder.store(pointers(builder, 1, elements(builder, rest)), best[1]);
  }
  return builder.finish();
}

/// c[M, N] = a[M, K] b[K, N], K in steps, edges masked by views.
inline ir::Kernel matmul(DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k,
                         int num_warps = 4) {
  Builder builder("matmul_" + std::string(name(in)) + "_" + std::to_string(m) + "x" +
                      std::to_string(n) + "x" + std::to_string(k),
                  {Type::pointer_to(in, true), Type::pointer_to(in, true), Type::pointer_to(out),
                   Type::scalar(DType::i64), Type::scalar(DType::i64), Type::scalar(DType::i64)},
                  {.num_warps = num_warps});
  const auto wide = [&](std::int64_t value) {
    return builder.constant(Type::scalar(DType::i64), encode(DType::i64, value));
  };
  const ValueId rows = builder.parameter(3);
  const ValueId columns = builder.parameter(4);
  const ValueId depth = builder.parameter(5);
  const auto start = [&](int axis, std::int64_t extent) {
    return builder.binary(Opcode::mul, builder.cast(builder.program_id(axis), DType::i64),
                          wide(extent));
  };
  const ValueId row = start(0, m);
  const ValueId column = start(1, n);
  const DType sum_type = in == DType::f64 ? DType::f64 : is_float(in) ? DType::f32 : DType::i32;
  const ValueId zero = builder.constant(Type::tile(sum_type, {m, n}), 0);
  ValueId total = builder.fold(wide(0), depth, wide(k), {zero}, [&](const Builder::Values& v) {
    const ValueId a = builder.load_view(builder.parameter(0), {rows, depth}, {depth, wide(1)},
                                        {row, v[0]}, {m, k}, 0);
    const ValueId b = builder.load_view(builder.parameter(1), {depth, columns}, {columns, wide(1)},
                                        {v[0], column}, {k, n}, 0);
    return Builder::Values{builder.dot(a, b, v[1])};
  })[0];
  if (out != sum_type) total = builder.cast(total, out);
  builder.store_view(builder.parameter(2), {rows, columns}, {columns, wide(1)}, {row, column},
                     total);
  return builder.finish();
}

inline ir::Kernel transpose(DType dtype, const Shape& shape, const std::vector<int>& dims,
                            int num_warps = 4) {
  Builder builder("transpose_" + std::string(name(dtype)) + "_" + std::to_string(num_warps),
                  {Type::pointer_to(dtype, true), Type::pointer_to(dtype)},
                  {.num_warps = num_warps});
  const ValueId x = builder.load(pointers(builder, 0, elements(builder, shape)));
  const ValueId moved = builder.permute(x, dims);
  builder.store(pointers(builder, 1, elements(builder, builder.type(moved).shape)), moved);
  return builder.finish();
}

/// Loops and branches around tiles, a scalar that is written and read back, all in place.
inline ir::Kernel control() {
  Builder builder("control", {Type::pointer_to(DType::f32), Type::pointer_to(DType::i32),
                              Type::scalar(DType::i32), Type::scalar(DType::u16)});
  const ValueId index = elements(builder, {8, 64});
  const ValueId zero = index_constant(builder, 0);
  const ValueId one = index_constant(builder, 1);
  const ValueId start = builder.load(pointers(builder, 0, index));
  const auto results =
      builder.fold(zero, builder.parameter(2), one, {start, zero}, [&](const Builder::Values& v) {
        const ValueId odd = builder.binary(Opcode::bit_and, v[0], one);
        const ValueId is_odd = builder.compare(Predicate::eq, odd, one);
        const auto chosen = builder.if_(
            is_odd,
            [&] {
              const ValueId total = sum(builder, v[1], 0);
              const ValueId again = builder.broadcast(builder.reshape(total, {1, 64}), {8, 64});
              return Builder::Values{builder.binary(Opcode::sub, v[1], again)};
            },
            [&] {
              builder.store(builder.parameter(1), v[0]);
              return Builder::Values{builder.binary(Opcode::mul, v[1], v[1])};
            });
        const ValueId seen = builder.load(builder.parameter(1));
        return Builder::Values{chosen[0], builder.binary(Opcode::add, v[2], seen)};
      });
  builder.store(pointers(builder, 0, index), results[0]);
  builder.store(builder.parameter(1), results[1]);
  const ValueId steps = builder.cast(builder.parameter(3), DType::u64);
  const ValueId u_zero = builder.constant(Type::scalar(DType::u64), 0);
  const ValueId u_one = builder.constant(Type::scalar(DType::u64), 1);
  const auto count = builder.fold(u_zero, steps, u_one, {u_zero}, [&](const Builder::Values& v) {
    return Builder::Values{builder.binary(Opcode::bit_xor, v[0], v[1])};
  });
  builder.store(builder.parameter(1), builder.cast(count[0], DType::i32));
  return builder.finish();
}

/// Rows and columns that were loaded apart, combined with a product.
inline ir::Kernel scaled_product(std::int64_t size) {
  Builder builder("scaled_product_" + std::to_string(size),
                  {Type::pointer_to(DType::f16, true), Type::pointer_to(DType::f16, true),
                   Type::pointer_to(DType::f32, true), Type::pointer_to(DType::f32, true),
                   Type::pointer_to(DType::bf16)});
  const ValueId index = elements(builder, {size, size});
  const ValueId a = builder.load(pointers(builder, 0, index));
  const ValueId b = builder.load(pointers(builder, 1, index));
  const ValueId bias = builder.load(pointers(builder, 2, elements(builder, {size})));
  const ValueId scale = builder.load(pointers(builder, 3, elements(builder, {size})));
  const ValueId start = builder.broadcast(builder.reshape(bias, {1, size}), {size, size});
  ValueId product = builder.dot(a, builder.permute(b, {1, 0}), start);
  const ValueId by_row = builder.broadcast(builder.reshape(scale, {size, 1}), {size, size});
  product = builder.binary(Opcode::mul, product, by_row);
  // A second product of what came out of the first.
  product = builder.dot(builder.cast(product, DType::f16), b, product);
  builder.store(pointers(builder, 4, index), builder.cast(product, DType::bf16));
  return builder.finish();
}

/// Every conversion from one element type.
inline ir::Kernel casts(DType from) {
  std::vector<Type> parameters = {Type::pointer_to(from, true)};
  for (const DType to : all_dtypes) parameters.push_back(Type::pointer_to(to));
  Builder builder("casts_" + std::string(name(from)), parameters);
  const ValueId index = elements(builder, {128});
  const ValueId x = builder.load(pointers(builder, 0, index));
  for (std::size_t i = 0; i < std::size(all_dtypes); ++i) {
    const DType to = all_dtypes[i];
    builder.store(pointers(builder, 1 + i, index), to == from ? x : builder.cast(x, to));
  }
  return builder.finish();
}

/// Every primitive operation that an element type has.
inline ir::Kernel arithmetic(DType dtype) {
  const auto body = [dtype](Builder& builder, ValueId a, ValueId b) {
    using enum Opcode;
    std::vector<Opcode> binary = {add, sub, mul, div, minimum, maximum};
    std::vector<Opcode> unary = {neg, abs};
    if (is_int(dtype)) {
      binary.insert(binary.end(), {rem, bit_and, bit_or, bit_xor, shl, shr});
      unary.push_back(bit_not);
      if (dtype == DType::u32 || dtype == DType::u64) binary.push_back(umulhi);
    } else if (is_float(dtype)) {
      unary.insert(unary.end(), {sqrt, floor, ceil, round});
    } else {
      binary = {bit_and, bit_or, bit_xor};
      unary = {bit_not};
    }
    ValueId x = a;
    for (const Opcode code : binary) {
      x = builder.select(builder.compare(Predicate::le, a, b), builder.binary(code, x, b), x);
    }
    for (const Opcode code : unary) {
      x = builder.select(builder.compare(Predicate::ne, x, b), builder.unary(code, x), x);
    }
    return is_float(dtype) ? builder.fma(x, b, a) : x;
  };
  return elementwise("arithmetic_" + std::string(name(dtype)), dtype, dtype, 256, body);
}

}  // namespace sample

inline std::vector<SampleKernel> sample_kernels() {
  using namespace sample;
  std::vector<SampleKernel> all;
  const auto add = [&all](ir::Kernel kernel) { all.push_back({std::move(kernel)}); };
  for (const DType dtype : all_dtypes) {
    add(vector_add(dtype));
    add(arithmetic(dtype));
    add(casts(dtype));
  }
  add(elementwise(
      "in_place_streaming", DType::f32, DType::f32, 512,
      [](Builder& builder, ValueId a, ValueId b) { return builder.binary(Opcode::mul, a, b); },
      true, ir::Cache::streaming));
  add(softmax(DType::f32, 1024));
  add(softmax(DType::f16, 256));
  for (const int num_warps : {1, 4, 8, 32}) {
    add(reduce_and_center(DType::f32, {2048}, 0, num_warps));
    add(reduce_and_center(DType::f64, {32, 64}, 0, num_warps));
    add(reduce_and_center(DType::i16, {64, 32}, 1, num_warps));
  }
  add(reduce_and_center(DType::f32, {4, 8, 16}, 1, 4));
  for (const DType dtype : {DType::i32, DType::u32}) add(integer_reductions(dtype));
  add(argmax({512}, 0));
  add(argmax({64, 64}, 0));
  add(argmax({64, 64}, 1));
  add(matmul(DType::f16, DType::f16, 64, 64, 32));
  add(matmul(DType::f32, DType::f32, 32, 32, 32));
  add(matmul(DType::bf16, DType::f32, 16, 16, 16));
  add(matmul(DType::f64, DType::f64, 32, 16, 8));
  add(matmul(DType::i8, DType::i32, 64, 32, 16));
  add(matmul(DType::f32, DType::f32, 1, 4, 2, 1));
  add(matmul(DType::f16, DType::f16, 128, 128, 64, 8));  // does not fit sm_75 as f32
  add(transpose(DType::f32, {64, 32}, {1, 0}));
  add(transpose(DType::u8, {16, 8}, {1, 0}, 1));
  add(transpose(DType::f64, {4, 8, 16}, {2, 0, 1}));
  add(control());
  add(scaled_product(32));
  add(scaled_product(64));
  return all;
}

}  // namespace teeny::compiler
