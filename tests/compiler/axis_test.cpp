// What the axis analysis claims, against the elements themselves.

#include <bit>
#include <cstring>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/passes/axis_analysis.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/compiler/reference.hpp"
#include "tests/ir/random_kernel.hpp"

#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Opcode;
using ir::Predicate;
using ir::Shape;
using ir::Type;
using ir::ValueId;
using testing::Reference;

/// How much was claimed: a test that claims nothing proves nothing.
struct Claims {
  int contiguous = 0;
  int wrapping = 0;
  int constant = 0;
  int falling = 0;
  int divisible = 0;
};

/// Compares facts with every element of a value.
class Checker {
 public:
  Checker(const ir::Kernel& kernel, const AxisAnalysis& axes) : kernel_(kernel), axes_(axes) {}

  void check(ValueId value, const Reference& reference) {
    const ir::Type& type = kernel_.type(value);
    const Shape shape = type.shape.empty() ? Shape{1} : type.shape;
    std::vector<std::uint64_t> elements = reference.elements(value);
    const bool integers = type.pointer || is_int(type.dtype);
    if (!type.pointer && is_signed_int(type.dtype)) {
      for (auto& one : elements) {
        const int unused = 64 - bits_of(type.dtype);
        one = static_cast<std::uint64_t>(static_cast<std::int64_t>(one << unused) >> unused);
      }
    }
    std::uint64_t root = 0;
    if (type.pointer && axes_.root(value) != ir::no_value) {
      root = reference.elements(axes_.root(value)).at(0);
    }
    const std::uint64_t step = type.pointer ? static_cast<std::uint64_t>(size_of(type.dtype)) : 1;
    const auto& facts = axes_.of(value);
    ASSERT_EQ(facts.size(), shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::size_t stride = 1;
      for (std::size_t d = axis + 1; d < shape.size(); ++d)
        stride *= static_cast<std::size_t>(shape[d]);
      const auto extent = static_cast<std::size_t>(shape[axis]);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (i / stride % extent != 0) continue;
        std::vector<std::uint64_t> line;
        for (std::size_t j = 0; j < extent; ++j) line.push_back(elements[i + j * stride]);
        const std::string problem = check_line(facts[axis], line, root, step, integers);
        ASSERT_EQ(problem, "") << "value " << value << ", axis " << axis;
      }
    }
  }

  Claims claims;

 private:
  std::string check_line(const AxisFacts& facts, const std::vector<std::uint64_t>& line,
                         std::uint64_t root, std::uint64_t step, bool integers) {
    const int bits = std::countr_zero(line.size());
    if (std::max({facts.constant, facts.contiguous, facts.falling}) > bits) return "too long";
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (i % (std::size_t{1} << facts.constant) != 0 && line[i] != line[i - 1]) return "constant";
      if (i % (std::size_t{1} << facts.falling) != 0 && !integers && line[i] > line[i - 1]) {
        return "falling";
      }
    }
    claims.constant += facts.constant > 0;
    claims.falling += facts.falling > facts.constant;
    if (!integers) return "";
    const std::size_t group = std::size_t{1} << facts.contiguous;
    const int unit_bits = std::countr_zero(step);
    for (std::size_t first = 0; first < line.size(); first += group) {
      const std::uint64_t low = (std::uint64_t{1} << facts.divisible) - 1;
      if (((line[first] - root) & low) != 0) return "divisible";
      int wrapped = 0;
      for (std::size_t i = first + 1; i < first + group; ++i) {
        const std::uint64_t gone = line[i] - line[i - 1];
        if (gone == step) continue;
        const std::uint64_t over =
            facts.wraps == 0 || facts.wraps == 64 ? 0 : std::uint64_t{step} << facts.wraps;
        if (facts.wraps == 0 || gone != step - over) return "contiguous";
        if (++wrapped > 1) return "contiguous, with one step over the end";
        // A short enough group has none.
        if (i % (std::size_t{1} << std::max(0, facts.divisible - unit_bits)) != 0) {
          return "steps over the end within what divides";
        }
      }
    }
    claims.contiguous += facts.contiguous > 0;
    claims.wrapping += facts.wraps != 0;
    claims.divisible += facts.divisible > 0;
    return "";
  }

  const ir::Kernel& kernel_;
  const AxisAnalysis& axes_;
};

// --- random kernels of all sorts ---

TEST(Axes, HoldInRandomKernels) {
  Claims all;
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ir::Kernel kernel = prepare(ir::random_kernel(seed).kernel);
    const AxisAnalysis axes(kernel);
    Checker checker(kernel, axes);
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::uint64_t>> buffers;
    std::vector<const void*> arguments;
    for (std::size_t i = 0; i < 2 * std::size(all_dtypes); ++i) {
      // Words of which no element, of any type, is a NaN or very large.
      buffers.emplace_back(static_cast<std::size_t>(ir::random_kernel_elements));
      for (auto& word : buffers.back()) word = random() & 0x3f013f013f013f01;
    }
    std::vector<const void*> addresses;
    for (const auto& buffer : buffers) addresses.push_back(buffer.data());
    for (const auto& address : addresses) arguments.push_back(&address);
    const auto number = static_cast<i32>(random() % 300);
    const f32 real = 0.75F;
    arguments.push_back(&number);
    arguments.push_back(&real);
    Reference(kernel, [&](ValueId value, const Reference& reference) {
      checker.check(value, reference);
    }).run(arguments, {0, 0, 0}, {1, 1, 1});
    if (HasFatalFailure()) FAIL() << ir::print(kernel);
    all.contiguous += checker.claims.contiguous;
    all.constant += checker.claims.constant;
    all.divisible += checker.claims.divisible;
  }
  EXPECT_GT(all.contiguous, 500);
  EXPECT_GT(all.constant, 500);
  EXPECT_GT(all.divisible, 500);
}

// --- random index arithmetic, near the ends of the integers ---

class IndexKernel {
 public:
  explicit IndexKernel(std::uint32_t seed)
      : random_(seed),
        builder_("indices", {Type::pointer_to(DType::f32), Type::scalar(DType::i32),
                             Type::scalar(DType::i64)}) {}

  ir::Kernel make() {
    pool_ = {builder_.parameter(1), builder_.parameter(2), builder_.program_id(0)};
    for (int i = 0; i < 3; ++i) pool_.push_back(range());
    for (int i = 0; i < 60; ++i) step();
    loop();
    return builder_.finish();
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  const Type& type(ValueId value) const { return builder_.type(value); }
  DType int_type() {
    static constexpr DType types[] = {DType::i32, DType::i32, DType::i64, DType::u32, DType::u64,
                                      DType::i8,  DType::u8,  DType::i16, DType::u16};
    return types[below(std::size(types))];
  }

  ValueId range() {
    static constexpr std::int64_t starts[] = {0, 0, 0, 3, 64, -16, 0x7fffffe0 - 16, 100};
    const std::size_t start = below(std::size(starts));
    return builder_.arange(starts[start], std::int64_t{1} << (1 + below(5)));
  }

  ValueId constant(DType dtype, const Shape& shape) {
    static constexpr std::int64_t numbers[] = {0,    1,    2,    4,      8,          16,  -1, 15,
                                               3,    0x60, 0x7f, -16,    0x7fffffff, 32,  6,  7,
                                               ~0x7, 0x80, 0xff, 0xfffe, 0x7ffffffc, 1024};
    const std::size_t number = below(std::size(numbers));
    return builder_.constant(Type::tile(dtype, shape), encode(dtype, numbers[number]));
  }

  /// Something of this type.
  ValueId other(const Type& wanted) {
    std::vector<ValueId> found;
    for (const ValueId value : pool_) {
      if (type(value) == wanted) found.push_back(value);
    }
    if (!found.empty() && chance(50)) return found[below(found.size())];
    if (chance(40) && !wanted.shape.empty()) {
      for (const ValueId value : pool_) {
        if (type(value).shape.empty() && type(value).dtype == wanted.dtype &&
            !type(value).pointer) {
          return builder_.broadcast(value, wanted.shape);
        }
      }
    }
    return constant(wanted.dtype, wanted.shape);
  }

  ValueId any_int() {
    for (;;) {
      const std::size_t newest = std::min(below(pool_.size()), below(pool_.size()));
      const ValueId value = pool_[pool_.size() - 1 - newest];
      if (!type(value).pointer && is_int(type(value).dtype)) return value;
    }
  }

  ValueId any_bool(const Shape& shape) {
    for (std::size_t i = pool_.size(); i-- > 0;) {
      if (type(pool_[i]) == Type::tile(DType::boolean, shape) && chance(60)) return pool_[i];
    }
    const DType dtype = int_type();
    return builder_.compare(Predicate::lt, other(Type::tile(dtype, shape)),
                            other(Type::tile(dtype, shape)));
  }

  void step() {
    using enum Opcode;
    static constexpr Opcode binaries[] = {add,     add,     add,     sub,     mul, div,
                                          rem,     bit_and, bit_or,  bit_xor, shl, shr,
                                          minimum, maximum, bit_and, add};
    const ValueId a = any_int();
    const Type as = type(a);
    switch (below(12)) {
      case 0:
        pool_.push_back(builder_.cast(a, int_type()));
        return;
      case 1: {
        const ValueId b = other(as);
        pool_.push_back(builder_.compare(ir::all_predicates()[below(6)], a, b));
        return;
      }
      case 2: {
        const ValueId b = other(as);
        const ValueId when = any_bool(as.shape);
        pool_.push_back(builder_.select(when, a, b));
        return;
      }
      case 3:
        return shaping(a);
      case 4: {
        const ValueId base = as.shape.empty() ? builder_.parameter(0)
                                              : builder_.broadcast(builder_.parameter(0), as.shape);
        if (as.dtype != DType::i32 && as.dtype != DType::i64) return;
        ValueId pointer = builder_.offset(base, a);
        if (chance(30)) {
          const ValueId far = other(as);
          pointer = builder_.offset(pointer, far);
        }
        pool_.push_back(pointer);
        if (chance(30)) {
          const ValueId when = any_bool(as.shape);
          pool_.push_back(builder_.select(when, pointer, base));
        }
        return;
      }
      case 5: {
        const ValueId left = any_bool(as.shape);
        const ValueId right = any_bool(as.shape);
        pool_.push_back(builder_.binary(chance(70) ? bit_and : bit_or, left, right));
        return;
      }
      case 6:
        pool_.push_back(builder_.unary(chance(50) ? neg : bit_not, a));
        return;
      default: {
        const Opcode code = binaries[below(std::size(binaries))];
        const ValueId b = other(as);
        const bool turned = chance(30) && code != shl && code != shr;
        pool_.push_back(turned ? builder_.binary(code, b, a) : builder_.binary(code, a, b));
      }
    }
  }

  void shaping(ValueId a) {
    const Shape shape = type(a).shape;
    const std::int64_t count = ir::element_count(shape);
    if (shape.size() == 1 && chance(50)) {
      const auto columns = std::int64_t{1} << below(static_cast<std::size_t>(
                               std::bit_width(static_cast<std::uint64_t>(count))));
      pool_.push_back(builder_.reshape(a, {count / columns, columns}));
    } else if (shape.size() == 1) {
      const ValueId row = builder_.reshape(a, chance(50) ? Shape{1, count} : Shape{count, 1});
      const Shape to = type(row).shape[0] == 1 ? Shape{4, count} : Shape{count, 4};
      pool_.push_back(builder_.broadcast(row, to));
    } else if (shape.size() == 2) {
      pool_.push_back(chance(50) ? builder_.permute(a, {1, 0}) : builder_.reshape(a, {count}));
    } else {
      pool_.push_back(builder_.broadcast(a, {chance(50) ? 8 : 16}));
    }
  }

  void loop() {
    const ValueId tile = any_int();
    const ValueId base = type(tile).shape.empty()
                             ? builder_.parameter(0)
                             : builder_.broadcast(builder_.parameter(0), type(tile).shape);
    const auto number = [&](std::int64_t value) {
      return builder_.constant(Type::scalar(DType::i32), encode(DType::i32, value));
    };
    const ValueId step_by = number(chance(50) ? 32 : 3);
    builder_.fold(number(0), number(100), step_by, {tile, base}, [&](const Builder::Values& v) {
      const ValueId by = constant(type(v[1]).dtype, type(v[1]).shape);
      const ValueId wide = builder_.cast(by, DType::i64);
      const ValueId index =
          type(tile).shape.empty() ? v[0] : builder_.broadcast(v[0], type(tile).shape);
      const ValueId at = builder_.offset(v[2], index);
      const ValueId pointer = builder_.offset(chance(50) ? at : v[2], wide);
      return Builder::Values{builder_.binary(chance(50) ? Opcode::add : Opcode::bit_xor, v[1], by),
                             pointer};
    });
  }

  std::mt19937 random_;
  Builder builder_;
  std::vector<ValueId> pool_;
};

TEST(Axes, HoldInRandomIndexArithmetic) {
  Claims all;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ir::Kernel kernel = IndexKernel(seed).make();
    const AxisAnalysis axes(kernel);
    Checker checker(kernel, axes);
    std::mt19937_64 random(seed);
    const std::uint64_t address = 0x7f0000000000 + 4 * (random() % 64);
    const i32 numbers[] = {0, 5, 64, 0x7fffffe0, 0x7ffffffb, -12, static_cast<i32>(random())};
    const i32 small = numbers[random() % std::size(numbers)];
    const i64 large = random() % 2 == 0 ? small : static_cast<i64>(random() >> (random() % 40));
    const std::uint32_t position = random() % 2 == 0 ? 3 : 0x7fffff;
    Reference(kernel, [&](ValueId value, const Reference& reference) {
      checker.check(value, reference);
    }).run({&address, &small, &large}, {position, 0, 0}, {position + 1, 1, 1});
    if (HasFatalFailure()) FAIL() << ir::print(kernel);
    all.contiguous += checker.claims.contiguous;
    all.wrapping += checker.claims.wrapping;
    all.constant += checker.claims.constant;
    all.falling += checker.claims.falling;
    all.divisible += checker.claims.divisible;
  }
  EXPECT_GT(all.contiguous, 5000);
  EXPECT_GT(all.wrapping, 500);
  EXPECT_GT(all.constant, 5000);
  EXPECT_GT(all.falling, 200);
  EXPECT_GT(all.divisible, 5000);
}

// --- what chance seldom meets ---

void check(const ir::Kernel& kernel, const std::vector<const void*>& arguments,
           std::uint32_t position = 0) {
  const AxisAnalysis axes(kernel);
  Checker checker(kernel, axes);
  Reference(kernel, [&](ValueId value, const Reference& reference) {
    checker.check(value, reference);
  }).run(arguments, {position, 0, 0}, {position + 1, 1, 1});
}

TEST(Axes, OrderEndsWhereIntegersEnd) {
  for (const DType dtype : {DType::i32, DType::i64, DType::u32, DType::u64}) {
    Builder builder("order", {Type::scalar(dtype), Type::scalar(dtype)});
    const ValueId range = builder.cast(builder.arange(0, 16), dtype);
    const ValueId start = builder.broadcast(builder.parameter(0), {16});
    const ValueId bound = builder.broadcast(builder.parameter(1), {16});
    const ValueId index = builder.binary(Opcode::add, range, start);
    for (const Predicate predicate : ir::all_predicates()) {
      builder.compare(predicate, index, bound);
      builder.compare(predicate, bound, index);
    }
    const ir::Kernel kernel = builder.finish();
    const std::uint64_t highest =
        (~std::uint64_t{0} >> (64 - bits_of(dtype))) >> (is_signed_int(dtype) ? 1 : 0);
    for (std::uint64_t before = 0; before < 20; ++before) {
      for (std::uint64_t place = 0; place < 24; ++place) {
        const std::uint64_t first = highest - before;
        const std::uint64_t limit = first + place;
        check(kernel, {&first, &limit});
        if (HasFatalFailure()) FAIL() << name(dtype) << " " << before << " " << place;
      }
    }
  }
}

TEST(Axes, AnotherRootIsNone) {
  Builder builder("roots", {Type::pointer_to(DType::f32), Type::pointer_to(DType::f32)});
  const ValueId index = builder.arange(0, 8);
  const ValueId a = sample::pointers(builder, 0, index);
  const ValueId b = sample::pointers(builder, 1, index);
  const auto number = [&](std::int64_t value) { return sample::index_constant(builder, value); };
  const auto walk = builder.fold(number(0), number(4), number(1), {a, builder.parameter(0)},
                                 [&](const Builder::Values& v) {
                                   builder.offset(v[1], index);
                                   builder.offset(v[2], number(64));
                                   return Builder::Values{b, builder.parameter(1)};
                                 });
  const auto chosen = builder.if_(
      builder.compare(Predicate::eq, builder.program_id(0), number(0)),
      [&] { return Builder::Values{a, builder.parameter(0)}; },
      [&] { return Builder::Values{b, builder.parameter(1)}; });
  const ValueId condition = builder.constant(Type::tile(DType::boolean, {8}), 1);
  builder.select(condition, a, b);
  const ir::Kernel kernel = builder.finish();
  const AxisAnalysis axes(kernel);
  for (const auto& results : {walk, chosen}) {
    EXPECT_EQ(axes.root(results[0]), ir::no_value);
    EXPECT_EQ(axes.of(results[0])[0].divisible, 0);
    EXPECT_EQ(axes.of(results[0])[0].contiguous, 3);
    EXPECT_EQ(axes.root(results[1]), results[1]);
  }
  const std::uint64_t first = 0x10004;
  const std::uint64_t second = 0x2000c;
  for (const std::uint32_t position : {0U, 1U}) check(kernel, {&first, &second}, position);
}

TEST(Axes, WhatHasASignOnlyAfterACastMayBeNegative) {
  Builder builder("signs", {});
  const auto number = [&](DType dtype, std::uint64_t bits) {
    return builder.constant(Type::tile(dtype, {32}), bits);
  };
  ValueId index = builder.cast(builder.arange(0, 32), DType::u32);
  index = builder.binary(Opcode::add, index, number(DType::u32, 0xfffffff0 - 0x10));
  index = builder.binary(Opcode::bit_and, index, number(DType::u32, 0xffffffff));
  const ValueId with_sign = builder.cast(index, DType::i32);
  for (const Opcode code : {Opcode::div, Opcode::rem}) {
    builder.binary(code, index, number(DType::u32, 4));
    builder.binary(code, with_sign, number(DType::i32, 4));
  }
  check(builder.finish(), {});
}

// --- what the backend counts on ---

const ir::Op* find(const ir::Block& block, Opcode code) {
  for (const ir::Op& op : block.ops) {
    if (op.code == code) return &op;
    for (const ir::Block& region : op.regions) {
      if (const ir::Op* found = find(region, code)) return found;
    }
  }
  return nullptr;
}

TEST(Axes, SeeWhatOneElementAfterTheOtherIs) {
  const ir::Kernel kernel = prepare(sample::vector_add(DType::f32));
  const AxisAnalysis axes(kernel);
  const ir::Op* load = find(kernel.body, Opcode::load);
  const AxisFacts pointers = axes.of(load->operands[0])[0];
  EXPECT_EQ(pointers.contiguous, 10);
  EXPECT_EQ(pointers.divisible, 12);
  EXPECT_EQ(pointers.wraps, 0);
  EXPECT_EQ(axes.root(load->operands[0]), kernel.body.arguments[0]);
  EXPECT_EQ(axes.of(load->operands[1])[0].falling, 10);
}

TEST(Axes, SeeRowsOfAViewInALoop) {
  const ir::Kernel kernel = prepare(sample::matmul(DType::f16, DType::f16, 64, 64, 32));
  const AxisAnalysis axes(kernel);
  const ir::Op* load = find(kernel.body, Opcode::load);
  const auto& pointers = axes.of(load->operands[0]);
  EXPECT_EQ(pointers[1].contiguous, 5);
  EXPECT_EQ(pointers[0].contiguous, 0);
  EXPECT_EQ(axes.memory_order(load->operands[0]), (std::vector<int>{1, 0}));
  const auto& mask = axes.of(load->operands[1]);
  EXPECT_EQ(mask[1].falling, 5);
  EXPECT_EQ(mask[1].constant, 0);
}

TEST(Axes, SeeThatARowOfUnknownPlaceMayGoOverTheEndOfItsIndices) {
  const ir::Kernel kernel = prepare(sample::softmax(DType::f32, 1024));
  const AxisAnalysis axes(kernel);
  const ir::Op* load = find(kernel.body, Opcode::load);
  const AxisFacts pointers = axes.of(load->operands[0])[0];
  EXPECT_EQ(pointers.contiguous, 10);
  EXPECT_EQ(pointers.wraps, 32);
  EXPECT_TRUE(may_wrap(pointers, 2, 2));
}

}  // namespace
}  // namespace teeny::compiler
