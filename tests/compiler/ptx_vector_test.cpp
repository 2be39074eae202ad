// Vectors of global memory: taken where they can be, and right where they cannot: any offset of any
// pointer, any mask, rows of any length.

#include <memory>
#include <random>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "compiler/layout/runs.hpp"
#include "tests/compiler/ptx_run_support.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/compiler/reference.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Opcode;
using ir::Predicate;
using ir::Shape;
using ir::Type;
using ir::ValueId;
using testing::Arguments;
using testing::GlobalAccesses;
using testing::Reference;
using testing::run_on_machine;

/// Runs a kernel on the machine and by the reference: every byte of every buffer must agree.
GlobalAccesses check(const ir::Kernel& kernel, const Artifact& artifact, const Arguments& given,
                     std::uint32_t position = 0) {
  Arguments expected = given;
  Reference(kernel).run(expected.pointers(), {position, 0, 0}, {2, 1, 1});
  Arguments found = given;
  const GlobalAccesses accesses = run_on_machine(artifact, found, {position, 0, 0}, {2, 1, 1});
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    EXPECT_EQ(expected[i], found[i]) << "parameter " << i;
  }
  return accesses;
}

Artifact compile(const ir::Kernel& kernel) {
  return compile_ptx(prepare(kernel), {Capability::sm_87});
}

void add_buffer(Arguments& arguments, DType dtype, std::size_t count, std::size_t offset,
                std::mt19937_64& random) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  auto& buffer = arguments.add_buffer(count * size, offset * size);
  for (char& byte : buffer) {
    byte = static_cast<char>(dtype == DType::boolean ? random() & 1 : random());
  }
}

/// out[i] = a[i] xor b[i] where i < n, of integers or of the bits of floats.
ir::Kernel masked_copy(DType dtype, std::int64_t block, ir::Cache cache) {
  return sample::elementwise(
      "masked", dtype, dtype, block,
      [dtype](Builder& builder, ValueId a, ValueId b) {
        if (!is_float(dtype)) return builder.binary(Opcode::bit_xor, a, b);
        const ValueId zero = builder.constant(builder.type(a), 0);
        return builder.select(builder.compare(Predicate::lt, a, zero), b, a);
      },
      false, cache);
}

class EveryDtype : public ::testing::TestWithParam<DType> {};

TEST_P(EveryDtype, AnyOffsetAndAnyLength) {
  const DType dtype = GetParam();
  constexpr std::int64_t block = 512;
  ir::Kernel kernel = masked_copy(dtype, block, ir::Cache::automatic);
  kernel.options.num_warps = 1;
  const Artifact artifact = compile(kernel);
  std::mt19937_64 random(static_cast<std::uint64_t>(dtype));
  const auto vector = static_cast<std::size_t>(16 / size_of(dtype));
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  const std::size_t lengths[] = {0,   1,   vector - 1, vector, vector + 1, 2 * vector, 255,
                                 256, 257, 511,        512,    513,        1023,       1024};
  std::size_t whole = 0;
  for (int round = 0; round < 70; ++round) {
    std::size_t offsets[3] = {below(vector), below(vector), below(vector)};
    if (round % 2 == 0) std::fill_n(offsets, 3, std::size_t{0});
    const std::size_t length = round % 5 == 4 ? below(1200) : lengths[below(std::size(lengths))];
    Arguments arguments;
    for (const std::size_t offset : offsets) {
      add_buffer(arguments, dtype, std::min<std::size_t>(length, 1024), offset, random);
    }
    const auto n = static_cast<i32>(length);
    arguments.add_value(&n, sizeof n);
    const auto position = static_cast<std::uint32_t>(below(2));
    const GlobalAccesses did = check(kernel, artifact, arguments, position);
    if (HasFailure()) {
      FAIL() << "offsets " << offsets[0] << " " << offsets[1] << " " << offsets[2] << ", length "
             << length << ", position " << position;
    }
    const std::size_t first = position * block;
    const std::size_t inside = std::min<std::size_t>(block, std::max(length, first) - first);
    ASSERT_EQ(did.bytes, 3 * inside * static_cast<std::size_t>(size_of(dtype)));
    const bool aligned = offsets[0] == 0 && offsets[1] == 0 && offsets[2] == 0;
    if (aligned && inside % vector == 0) {
      // Nothing but vectors, the edge included.
      ASSERT_EQ(did.all, did.vectors);
      ASSERT_EQ(did.bytes, 16 * did.vectors);
      whole += inside > 0;
    }
    if (offsets[2] != 0) {
      ASSERT_GE(did.all - did.vectors, inside);
    }
  }
  EXPECT_GT(whole, 5U);
}

TEST_P(EveryDtype, StreamingInPlaceAndByTwos) {
  const DType dtype = GetParam();
  std::mt19937_64 random(7);
  for (const std::int64_t block : {64, 128, 256}) {
    ir::Kernel kernel = sample::elementwise(
        "in_place", dtype, dtype, block,
        [](Builder& builder, ValueId a, ValueId b) {
          return builder.select(builder.compare(Predicate::ne, a, b), b, a);
        },
        true, ir::Cache::streaming);
    kernel.options.num_warps = 1;
    const Artifact artifact = compile(kernel);
    for (const std::size_t offset : {0U, 1U}) {
      for (const i32 n : {static_cast<i32>(block), static_cast<i32>(block) - 1, 7}) {
        Arguments arguments;
        for (int i = 0; i < 3; ++i) {
          add_buffer(arguments, dtype, static_cast<std::size_t>(block), offset, random);
        }
        arguments.add_value(&n, sizeof n);
        const GlobalAccesses did = check(kernel, artifact, arguments);
        ASSERT_FALSE(HasFailure()) << block << " " << offset << " " << n;
        const std::size_t bytes =
            static_cast<std::size_t>(std::min<std::int64_t>(16, block / 32 * size_of(dtype)));
        if (offset == 0 && n == block) {
          ASSERT_EQ(did.bytes, bytes * did.all);
        }
      }
    }
  }
}

std::string dtype_name(const ::testing::TestParamInfo<DType>& parameter) {
  return std::string(name(parameter.param));
}

INSTANTIATE_TEST_SUITE_P(PtxVector, EveryDtype, ::testing::ValuesIn(all_dtypes), dtype_name);

TEST(PtxVector, MasksOfAnyContentAndValuesForTheRest) {
  Builder builder("masks",
                  {Type::pointer_to(DType::i16, true), Type::pointer_to(DType::boolean, true),
                   Type::pointer_to(DType::i16, true), Type::pointer_to(DType::i16)},
                  {.num_warps = 1});
  const ValueId index = sample::elements(builder, {256});
  const ValueId mask = builder.load(sample::pointers(builder, 1, index));
  const ValueId other = builder.load(sample::pointers(builder, 2, index));
  const ValueId x = builder.load(sample::pointers(builder, 0, index), mask, other);
  builder.store(sample::pointers(builder, 3, index), x);
  builder.store(sample::pointers(builder, 3,
                                 builder.binary(Opcode::add, index,
                                                sample::index_constant(builder, 256, {256}))),
                x, mask);
  const ir::Kernel kernel = builder.finish();
  const Artifact artifact = compile(kernel);
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    Arguments arguments;
    add_buffer(arguments, DType::i16, 256, round % 3 == 2 ? 1 : 0, random);
    auto& masks = arguments.add_buffer(256);
    // Masks in pieces of 1 to 128 elements.
    const std::size_t piece = std::size_t{1} << random() % 8;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      masks[i] = static_cast<char>(i % piece == 0 ? random() & 1 : masks[i - 1]);
    }
    add_buffer(arguments, DType::i16, 256, 0, random);
    add_buffer(arguments, DType::i16, 512, 0, random);
    check(kernel, artifact, arguments);
    ASSERT_FALSE(HasFailure()) << "round " << round << ", pieces of " << piece;
  }
}

TEST(PtxVector, ViewsOfAnyStrideAndPlace) {
  for (const DType dtype : {DType::f32, DType::f16, DType::u8}) {
    const Type i64_scalar = Type::scalar(DType::i64);
    Builder builder("views",
                    {Type::pointer_to(dtype, true), Type::pointer_to(dtype), i64_scalar, i64_scalar,
                     i64_scalar, i64_scalar, i64_scalar},
                    {.num_warps = 1});
    const auto p = [&](std::size_t i) { return builder.parameter(i); };
    const ValueId one = builder.constant(i64_scalar, 1);
    const ValueId tile = builder.load_view(p(0), {p(2), p(3)}, {p(4), one}, {p(5), p(6)}, {8, 64},
                                           encode(dtype, std::int64_t{5}));
    builder.store_view(p(1), {p(2), p(3)}, {p(4), one}, {p(5), p(6)}, tile);
    const ir::Kernel kernel = builder.finish();
    const Artifact artifact = compile(kernel);
    std::mt19937_64 random(11);
    std::size_t vectors = 0;
    for (int round = 0; round < 60; ++round) {
      const auto below = [&](std::size_t end) { return static_cast<i64>(random() % end); };
      const i64 rows = 4 + below(12);
      const i64 columns = round % 3 == 0 ? 64 + 16 * below(3) : 60 + below(40);
      const i64 stride = round % 3 == 0 ? columns : columns + below(9);
      const i64 row = below(9) - 4;
      const i64 column = round % 2 == 0 ? 16 * (below(5) - 2) : below(60) - 30;
      const auto count = static_cast<std::size_t>(rows * stride);
      Arguments arguments;
      add_buffer(arguments, dtype, count, round % 4 == 1 ? 1 : 0, random);
      add_buffer(arguments, dtype, count, round % 4 == 2 ? 1 : 0, random);
      for (const i64* number : {&rows, &columns, &stride, &row, &column}) {
        arguments.add_value(number, sizeof *number);
      }
      vectors += check(kernel, artifact, arguments).vectors;
      ASSERT_FALSE(HasFailure()) << name(dtype) << ", round " << round;
    }
    EXPECT_GT(vectors, 100U) << name(dtype);
  }
}

// An index of 32 bits goes over its end in the midst of a run: the rest of the run is 4 GiB away.
TEST(PtxVector, RunsEndWhereIndicesDo) {
  constexpr std::size_t span = std::size_t{1} << 32;
  constexpr std::size_t block = 512;
  struct Unmap {
    void operator()(char* memory) const { munmap(memory, span); }
  };
  void* mapped = mmap(nullptr, span, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const std::unique_ptr<char, Unmap> memory(static_cast<char*>(mapped));
  for (std::size_t i = 0; i < 2 * block; ++i) {
    memory.get()[i] = static_cast<char>(3 * i + 1);
    memory.get()[span - 1 - i] = static_cast<char>(5 * i + 2);
  }
  Builder builder(
      "over",
      {Type::pointer_to(DType::u8, true), Type::pointer_to(DType::u8), Type::scalar(DType::i32)},
      {.num_warps = 1});
  const ValueId range = builder.arange(0, block);
  const ValueId index =
      builder.binary(Opcode::add, range, builder.broadcast(builder.parameter(2), {block}));
  builder.store(sample::pointers(builder, 1, range),
                builder.load(sample::pointers(builder, 0, index)));
  const ir::Kernel kernel = builder.finish();
  const Artifact artifact = compile(kernel);
  EXPECT_NE(artifact.code.find("ld.global.nc.v4.u32"), std::string::npos);
  const char* middle = memory.get() + span / 2;
  for (const i32 before : {600, 512, 100, 96, 33, 32, 17, 16, 15, 8, 1}) {
    const i32 start = static_cast<i32>(0x7fffffff) - before + 1;
    std::vector<char> out(block);
    char* out_address = out.data();
    testing::PtxMachine machine(artifact.code, artifact.info.shared_bytes);
    machine.allow(memory.get(), span);
    machine.allow(out.data(), out.size());
    machine.run({&middle, &out_address, &start}, {0, 0, 0}, {1, 1, 1});
    for (std::size_t i = 0; i < block; ++i) {
      const auto at = static_cast<i32>(static_cast<std::uint32_t>(start) + i);
      ASSERT_EQ(out[i], middle[at]) << before << " before the end, element " << i;
    }
  }
}

TEST(Runs, HoldNeighboursAlongTheirAxis) {
  std::mt19937 random(5);
  int found = 0;
  for (const Shape& shape : std::vector<Shape>{{256}, {16, 32}, {64, 8}, {4, 8, 16}}) {
    std::vector<int> order;
    for (int d = static_cast<int>(shape.size()); d-- > 0;) order.push_back(d);
    for (int round = 0; round < 20; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      const LinearLayout layout =
          LinearLayout::blocked(shape, order, static_cast<int>(random() % 4), 1);
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        std::uint32_t stride = 1;
        for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < shape.size(); ++d) {
          stride *= static_cast<std::uint32_t>(shape[d]);
        }
        const auto extent = static_cast<std::uint32_t>(shape[static_cast<std::size_t>(axis)]);
        const int bits = run_bits(layout, shape, axis);
        found += bits > 0;
        const auto runs = runs_of(layout, shape, axis, bits);
        ASSERT_EQ(runs.size() << bits, layout.register_count());
        for (std::uint32_t thread = 0; thread < 64; ++thread) {
          for (const auto& run : runs) {
            const std::uint32_t first = layout.element(run[0], thread % 32, thread / 32);
            ASSERT_EQ(first / stride % extent % run.size(), 0U);
            for (std::uint32_t i = 0; i < run.size(); ++i) {
              ASSERT_EQ(layout.element(run[i], thread % 32, thread / 32), first + i * stride);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace teeny::compiler
