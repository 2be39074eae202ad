#include "teeny/ir/builder.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/ir/sample_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/text.hpp"
#include "teeny/ir/verify.hpp"

namespace teeny::ir {
namespace {

using Values = std::vector<ValueId>;

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "(no error)";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

TEST(Builder, MakesAVerifiedKernel) {
  const Kernel kernel = sample_kernel();
  EXPECT_NO_THROW(verify(kernel));
  EXPECT_EQ(kernel.parameters().size(), 6U);
  EXPECT_EQ(kernel.parameters()[1], Type::pointer_to(DType::f32));
  EXPECT_EQ(kernel.parameters()[0], Type::pointer_to(DType::f32, true));
}

TEST(Builder, TypesFollowTheOperands) {
  Builder b("k", {Type::pointer_to(DType::f16, true)});
  const ValueId pointers =
      b.offset(b.broadcast(b.parameter(0), {4, 8}), b.reshape(b.arange(0, 32), {4, 8}));
  EXPECT_EQ(b.type(pointers), Type::pointer_to(DType::f16, true, {4, 8}));
  const ValueId x = b.load(pointers);
  EXPECT_EQ(b.type(x), Type::tile(DType::f16, {4, 8}));
  EXPECT_EQ(b.type(b.permute(x, {1, 0})), Type::tile(DType::f16, {8, 4}));
  EXPECT_EQ(b.type(b.compare(Predicate::lt, x, x)), Type::tile(DType::boolean, {4, 8}));
  EXPECT_EQ(b.type(b.cast(x, DType::f64)), Type::tile(DType::f64, {4, 8}));
  EXPECT_EQ(b.type(b.bitcast(x, DType::u16)), Type::tile(DType::u16, {4, 8}));
  const ValueId acc = b.constant(Type::tile(DType::f32, {4, 4}), 0);
  EXPECT_EQ(b.type(b.dot(x, b.permute(x, {1, 0}), acc)), Type::tile(DType::f32, {4, 4}));
  const Values sums =
      b.reduce({x}, 0, [&](const Values& p) { return Values{b.binary(Opcode::add, p[0], p[1])}; });
  EXPECT_EQ(b.type(sums[0]), Type::tile(DType::f16, {8}));
}

TEST(Builder, ErrorsNameKernelOperationAndBothTypes) {
  Builder b("mixes", {Type::scalar(DType::f32), Type::scalar(DType::f16)});
  const std::string text =
      message_of([&] { b.binary(Opcode::add, b.parameter(0), b.parameter(1)); });
  expect_contains(text, "kernel 'mixes', add: ");
  expect_contains(text, "wanted f32, found f16");
}

TEST(Builder, RefusesBadNamesOptionsAndParameters) {
  for (const char* name : {"", "1st", "a-b", "a b", "caf\xc3\xa9", "a.b", "$x"}) {
    expect_contains(message_of([&] { Builder(name, {}); }), "not an identifier");
  }
  EXPECT_NO_THROW(Builder("_Az09", {}));
  EXPECT_NO_THROW(Builder(std::string(max_name_length, 'a'), {}));
  expect_contains(message_of([&] { Builder(std::string(max_name_length + 1, 'a'), {}); }),
                  "not an identifier");
  expect_contains(message_of([&] { Builder("k", {}, {3, 1, 0}); }), "num_warps");
  expect_contains(message_of([&] { Builder("k", {}, {64, 1, 0}); }), "num_warps");
  expect_contains(message_of([&] { Builder("k", {}, {4, 0, 0}); }), "num_stages");
  expect_contains(message_of([&] { Builder("k", {}, {4, 1, 8}); }), "max_registers");
  expect_contains(message_of([&] { Builder("k", {Type::tile(DType::f32, {4})}); }),
                  "a parameter must be a scalar");
}

TEST(Builder, RefusesAParameterThatIsNotThere) {
  Builder b("k", {Type::scalar(DType::f32)});
  expect_contains(message_of([&] { (void)b.parameter(1); }), "no parameter 1");
}

TEST(Builder, ValuesOfARegionStayInside) {
  Builder b("k", {Type::scalar(DType::i32)});
  const ValueId n = b.parameter(0);
  ValueId escaped = no_value;
  b.fold(n, n, n, {}, [&](const Values& a) {
    escaped = b.binary(Opcode::add, a[0], n);
    return Values{};
  });
  const std::string text = message_of([&] { b.unary(Opcode::neg, escaped); });
  expect_contains(text, "an operand does not exist here");
  expect_contains(text, "yield it");
  EXPECT_NE(message_of([&] { b.unary(Opcode::neg, no_value); }), "(no error)");
}

TEST(Builder, AnExceptionInsideARegionLeavesTheBuilderUsable) {
  Builder b("k", {Type::scalar(DType::i32)});
  const ValueId n = b.parameter(0);
  EXPECT_THROW(b.fold(n, n, n, {},
                      [&](const Values& a) -> Values {
                        b.unary(Opcode::neg, a[0]);
                        throw std::runtime_error("user's own");
                      }),
               std::runtime_error);
  b.unary(Opcode::neg, n);
  const Kernel kernel = b.finish();
  EXPECT_EQ(kernel.body.ops.size(), 1U);
}

TEST(Builder, LoadWithOtherNeedsAMask) {
  Builder b("k", {Type::pointer_to(DType::i32), Type::scalar(DType::i32)});
  expect_contains(message_of([&] { b.load(b.parameter(0), no_value, b.parameter(1)); }), "no mask");
}

TEST(Builder, ViewsNeedOneStrideAndOffsetAnExtent) {
  Builder b("k", {Type::pointer_to(DType::i32), Type::scalar(DType::i64)});
  const ValueId n = b.parameter(1);
  expect_contains(message_of([&] { b.load_view(b.parameter(0), {n, n}, {n}, {n, n}, {4, 4}, 0); }),
                  "found 2, 1 and 2");
}

TEST(Builder, SplicedRegionsAreVisibleAgain) {
  Builder b("k", {Type::scalar(DType::i32)});
  Block region =
      b.region({}, [&](const Values&) { return Values{b.unary(Opcode::neg, b.parameter(0))}; });
  const Values values = b.splice(std::move(region));
  ASSERT_EQ(values.size(), 1U);
  b.unary(Opcode::abs, values[0]);
  const Kernel kernel = b.finish();
  ASSERT_EQ(kernel.body.ops.size(), 2U);
  EXPECT_EQ(kernel.body.ops[0].code, Opcode::neg);
}

TEST(Builder, IsSpentOnceFinished) {
  Builder b("k", {});
  (void)b.finish();
  EXPECT_THROW((void)b.finish(), Error);
  EXPECT_THROW(b.program_id(0), Error);
}

TEST(Op, MemoryIsSeenInsideRegions) {
  const Kernel kernel = sample_kernel();
  const Op& last = kernel.body.ops.back();
  EXPECT_EQ(last.code, Opcode::fold);
  EXPECT_TRUE(writes_memory(last));
  EXPECT_TRUE(reads_memory(last));
  for (const Op& op : kernel.body.ops) {
    if (op.code == Opcode::reduce) {
      EXPECT_FALSE(writes_memory(op) || reads_memory(op));
    }
    if (op.code == Opcode::fold && op.operands.size() == 4) {
      EXPECT_TRUE(reads_memory(op));
      EXPECT_FALSE(writes_memory(op));
    }
  }
}

TEST(Op, NamesAreUniqueAndGroupsRight) {
  std::vector<std::string_view> names;
  for (const Opcode code : all_opcodes()) names.push_back(name(code));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(name(Opcode::if_), "if");
  EXPECT_EQ(name(Opcode::yield), "yield");
  for (const Opcode code :
       {Opcode::cast, Opcode::bitcast, Opcode::neg, Opcode::round, Opcode::add, Opcode::umulhi,
        Opcode::compare, Opcode::select, Opcode::fma, Opcode::offset}) {
    EXPECT_TRUE(is_elementwise(code)) << name(code);
  }
  for (const Opcode code : {Opcode::constant, Opcode::arange, Opcode::reshape, Opcode::permute,
                            Opcode::load, Opcode::dot, Opcode::reduce, Opcode::if_}) {
    EXPECT_FALSE(is_elementwise(code)) << name(code);
  }
}

}  // namespace
}  // namespace teeny::ir
