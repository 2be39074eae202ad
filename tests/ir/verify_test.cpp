#include "teeny/ir/verify.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/ir/sample_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/builder.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::ir {
namespace {

/// One broken rule: the operations of a kernel, and what must be said about them.
struct Broken {
  const char* rule;
  const char* operations;
  const char* said;
};
std::ostream& operator<<(std::ostream& out, const Broken& broken) { return out << broken.rule; }

// %0 to %9 are parameters, one or two of a kind.
constexpr const char* header =
    "teeny-ir 1\n"
    "kernel broken(%0: f32, %1: i32, %2: i64, %3: bool, %4: ptr<f32>, %5: ptr<const f32>, %6: i32, "
    "%7: u32, %8: f16, %9: i64) num_warps=4 num_stages=1 max_registers=0 {\n";

class Verify : public testing::TestWithParam<Broken> {};

TEST_P(Verify, SaysWhichRuleIsBroken) {
  const std::string text = std::string(header) + GetParam().operations + "}\n";
  try {
    (void)parse(text);
    FAIL() << "accepted:\n" << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find(GetParam().said), std::string::npos) << error.what();
    EXPECT_EQ(error.message().rfind("IR text, line ", 0), 0U) << error.what();
  }
}

constexpr Broken rules_of_values[] = {
    {"UseBeforeDefinition", "%11 = neg %12 : i32\n%12 = neg %1 : i32\n", "used before"},
    {"UseOfOneself", "%11 = neg %11 : i32\n", "used before it is defined"},
    {"UseOutsideOfRegion",
     "if %3 {\n%11 = neg %1 : i32\nyield\n} else {\nyield\n}\n%12 = neg %11 : i32\n",
     "outside of the region that defines it"},
    {"UseInSiblingRegion",
     "if %3 {\n%11 = neg %1 : i32\nyield\n} else {\n%12 = neg %11 : i32\nyield\n}\n",
     "outside of the region that defines it"},
    {"OwnResultInsideRegion",
     "%11 = if %3 : i32 {\n%12 = neg %11 : i32\nyield %12\n} else {\nyield %1\n}\n",
     "used before it is defined"},
    {"DefinedTwice", "%11 = neg %1 : i32\n%11 = neg %1 : i32\n", "a second time"},
    {"ExtentNoPowerOfTwo", "%11 = broadcast %1 : i32[12]\n", "12 is not a power of two"},
    {"TooManyElements", "%11 = broadcast %1 : i32[1048576x2]\n", "at most 1048576 elements"},
    {"TooHighRank", "%11 = broadcast %1 : i32[1x1x1x1x1x1x1x1x1]\n", "rank 9"},
    {"YieldInBody", "yield\n", "not the kernel's body"},
    {"YieldNotLast", "if %3 {\nyield\nyield\n} else {\nyield\n}\n", "last operation"},
    {"NoYield", "if %3 {\n%11 = neg %1 : i32\n} else {\nyield\n}\n", "does not end in a yield"},
    {"EmptyRegion", "if %3 {\n} else {\nyield\n}\n", "does not end in a yield"},
};
INSTANTIATE_TEST_SUITE_P(Values, Verify, testing::ValuesIn(rules_of_values),
                         [](const auto& i) { return i.param.rule; });

constexpr Broken rules_of_types[] = {
    {"WrongResultType", "%11 = add %1, %6 : i64\n", "result 0: wanted i32, found i64"},
    {"NoResult", "neg %1\n", "wanted 1 results, found 0"},
    {"NoStatedResult", "cast %1\n", "result type has to be stated"},
    {"TwoResults", "%11, %12 = neg %1 : i32, i32\n", "wanted 1 results, found 2"},
    {"ResultOfStore", "%11 = store %4, %0 : f32\n", "wanted 0 results, found 1"},
    {"TooFewOperands", "%11 = add %1 : i32\n", "wanted 2 operands, found 1"},
    {"TooManyOperands", "%11 = neg %1, %6 : i32\n", "wanted 1 operands, found 2"},
    {"ConstantPointer", "%11 = constant bits=0x0 : ptr<f32>\n", "found pointers"},
    {"ConstantTooWide", "%11 = constant bits=0x100 : i8\n", "bits above the 8 of i8"},
    {"ConstantBool", "%11 = constant bits=0x2 : bool\n", "bits above the 1 of bool"},
    {"GridAxis", "%11 = program_id index=3 : i32\n", "grid axis of 0 to 2, found 3"},
    {"GridAxisNegative", "%11 = num_programs index=-1 : i32\n", "grid axis of 0 to 2, found -1"},
    {"ArangeType", "%11 = arange index=0 : i64[8]\n", "i32 tile of rank 1"},
    {"ArangeRank", "%11 = arange index=0 : i32[8x8]\n", "i32 tile of rank 1"},
    {"ArangeRange", "%11 = arange index=2147483641 : i32[8]\n", "leave the range of i32"},
    {"CastShape", "%11 = cast %1 : f32[4]\n", "the operand's shape"},
    {"CastPointer", "%11 = cast %4 : i64\n", "found pointers"},
    {"CastToPointer", "%11 = cast %2 : ptr<f32>\n", "the operand's shape"},
    {"BitcastWidth", "%11 = bitcast %1 : f16\n", "elements of one width"},
    {"BitcastBool", "%11 = bitcast %3 : i8\n", "elements of one width"},
    {"NegBool", "%11 = neg %3 : bool\n", "wanted integers or floats, found bool"},
    {"NegPointer", "%11 = neg %4 : ptr<f32>\n", "found pointers"},
    {"NotFloat", "%11 = bit_not %0 : f32\n", "wanted integers or bool"},
    {"ExpInt", "%11 = exp %1 : i32\n", "wanted floats, found i32"},
    {"AddMixed", "%11 = add %1, %2 : i32\n", "of one type: wanted i32, found i64"},
    {"AddShapes", "%11 = broadcast %1 : i32[4]\n%12 = add %11, %1 : i32[4]\n", "of one type"},
    {"AddBool", "%11 = add %3, %3 : bool\n", "wanted integers or floats"},
    {"AndFloat", "%11 = bit_and %0, %0 : f32\n", "wanted integers or bool"},
    {"ShiftBool", "%11 = shl %3, %3 : bool\n", "wanted integers, found bool"},
    {"UmulhiSigned", "%11 = umulhi %1, %6 : i32\n", "wanted u32 or u64"},
    {"ComparePointers", "%11 = compare %4, %4 predicate=eq : bool\n", "found pointers"},
    {"CompareMixed", "%11 = compare %0, %8 predicate=eq : bool\n", "of one type"},
    {"SelectCondition", "%11 = select %1, %0, %0 : f32\n", "the condition: wanted bool"},
    {"SelectChoices", "%11 = select %3, %0, %8 : f32\n", "both choices must be of one type"},
    {"FmaInt", "%11 = fma %1, %1, %1 : i32\n", "wanted floats"},
    {"ReshapeCount", "%11 = arange index=0 : i32[8]\n%12 = reshape %11 : i32[4]\n", "as many"},
    {"ReshapeType", "%11 = arange index=0 : i32[8]\n%12 = reshape %11 : u32[8]\n", "the same"},
    {"BroadcastRank", "%11 = arange index=0 : i32[1]\n%12 = broadcast %11 : i32[1x4]\n",
     "does not broadcast"},
    {"BroadcastExtent", "%11 = arange index=0 : i32[2]\n%12 = broadcast %11 : i32[4]\n",
     "does not broadcast"},
    {"PermuteCount", "%11 = permute %1 dims=[0] : i32\n", "wanted 0 dims, found 1"},
    {"PermuteTwice", "%11 = broadcast %1 : i32[2x4]\n%12 = permute %11 dims=[1, 1] : i32[4x4]\n",
     "not a permutation"},
    {"PermuteNegative", "%11 = broadcast %1 : i32[2]\n%12 = permute %11 dims=[-1] : i32[2]\n",
     "not a permutation"},
};
INSTANTIATE_TEST_SUITE_P(Types, Verify, testing::ValuesIn(rules_of_types),
                         [](const auto& i) { return i.param.rule; });

constexpr Broken rules_of_memory[] = {
    {"OffsetNoPointer", "%11 = offset %1, %1 : i32\n", "wanted pointers"},
    {"OffsetDtype", "%11 = offset %4, %7 : ptr<f32>\n", "i32 or i64"},
    {"OffsetShape", "%11 = arange index=0 : i32[4]\n%12 = offset %4, %11 : ptr<f32>[4]\n",
     "as many integers as pointers"},
    {"LoadNoPointer", "%11 = load %0 : f32\n", "wanted pointers"},
    {"LoadMask", "%11 = load %4, %1 : f32\n", "the mask: wanted bool"},
    {"LoadOther", "%11 = load %4, %3, %8 : f32\n", "wanted f32, found f16"},
    {"StoreReadOnly", "store %5, %0\n", "nothing may be stored through ptr<const f32>"},
    {"StoreDtype", "store %4, %8\n", "wanted f32, found f16"},
    {"StoreMask", "store %4, %0, %0\n", "the mask: wanted bool"},
    {"LoadViewBase",
     "%11 = broadcast %4 : ptr<f32>[4]\n%12 = load_view %11, %2, %2, %2 bits=0x0 : f32[4]\n",
     "one base pointer"},
    {"LoadViewCount", "%11 = load_view %4, %2, %2, %2, %2, %2, %2 bits=0x0 : f32[4]\n",
     "wanted a base and 3"},
    {"LoadViewIndex", "%11 = load_view %4, %2, %1, %2 bits=0x0 : f32[4]\n",
     "wanted i64, found i32"},
    {"LoadViewDtype", "%11 = load_view %4, %2, %2, %2 bits=0x0 : f16[4]\n",
     "found ptr<f32> and f16"},
    {"LoadViewScalar", "%11 = load_view %4, %2, %2, %2 bits=0x0 : f32\n", "at least one extent"},
    {"LoadViewPadding", "%11 = load_view %4, %2, %2, %2 bits=0x100000000 : f32[4]\n", "bits above"},
    {"StoreViewReadOnly", "%11 = broadcast %0 : f32[4]\nstore_view %5, %2, %2, %2, %11\n",
     "nothing may be stored"},
    {"StoreViewDtype", "%11 = broadcast %8 : f16[4]\nstore_view %4, %2, %2, %2, %11\n",
     "wanted f32[4], found f16[4]"},
    {"StoreViewCount", "%11 = broadcast %0 : f32[4x4]\nstore_view %4, %2, %2, %2, %11\n",
     "for rank 2"},
};
INSTANTIATE_TEST_SUITE_P(Memory, Verify, testing::ValuesIn(rules_of_memory),
                         [](const auto& i) { return i.param.rule; });

constexpr Broken rules_of_the_rest[] = {
    {"DotRank", "%11 = dot %0, %0, %0 : f32\n", "rank 2"},
    {"DotInner",
     "%11 = broadcast %0 : f32[4x8]\n%12 = broadcast %0 : f32[4x4]\n"
     "%13 = dot %11, %11, %12 : f32[4x4]\n",
     "wanted [M, K], [K, N] and [M, N]"},
    {"DotMixed",
     "%11 = broadcast %0 : f32[4x4]\n%12 = broadcast %8 : f16[4x4]\n"
     "%13 = dot %11, %12, %11 : f32[4x4]\n",
     "one element type"},
    {"DotDtype", "%11 = broadcast %1 : i32[4x4]\n%12 = dot %11, %11, %11 : i32[4x4]\n",
     "wanted f16, bf16, f32, f64 or i8"},
    {"DotAccumulator", "%11 = broadcast %8 : f16[4x4]\n%12 = dot %11, %11, %11 : f16[4x4]\n",
     "accumulator of f32"},
    {"DotPrecision",
     "%11 = broadcast %8 : f16[4x4]\n%12 = broadcast %0 : f32[4x4]\n"
     "%13 = dot %11, %11, %12 precision=tf32 : f32[4x4]\n",
     "tf32 is for f32 operands"},
    {"ReduceAxis",
     "%11 = broadcast %0 : f32[4]\n%12 = reduce %11 index=1 : f32 (%13: f32, %14: f32) {\n"
     "yield %13\n}\n",
     "wanted an axis of f32[4], found 1"},
    {"ReduceScalar", "%12 = reduce %0 index=0 : f32 (%13: f32, %14: f32) {\nyield %13\n}\n",
     "wanted an axis"},
    {"ReduceShapes",
     "%11 = broadcast %0 : f32[4]\n%12 = broadcast %1 : i32[8]\n"
     "%13, %14 = reduce %11, %12 index=0 : f32, i32 (%15: f32, %16: i32, %17: f32, %18: i32) {\n"
     "yield %15, %16\n}\n",
     "tiles must be of one shape"},
    {"ReducePointers",
     "%11 = broadcast %4 : ptr<f32>[4]\n"
     "%12 = reduce %11 index=0 : ptr<f32> (%13: ptr<f32>, %14: ptr<f32>) {\nyield %13\n}\n",
     "found pointers"},
    {"ReduceArguments",
     "%11 = broadcast %0 : f32[4]\n%12 = reduce %11 index=0 : f32 (%13: f32) {\nyield %13\n}\n",
     "wanted 2 arguments, found 1"},
    {"ReduceYield",
     "%11 = broadcast %0 : f32[4]\n%12 = reduce %11 index=0 : f32 (%13: f32, %14: f32) {\n"
     "yield %1\n}\n",
     "value 0 that its region yields: wanted f32, found i32"},
    {"ReduceMemory",
     "%11 = broadcast %0 : f32[4]\n%12 = reduce %11 index=0 : f32 (%13: f32, %14: f32) {\n"
     "%15 = load %4 : f32\nyield %15\n}\n",
     "may not hold load"},
    {"ReduceTiles",
     "%11 = broadcast %0 : f32[4]\n%12 = reduce %11 index=0 : f32 (%13: f32, %14: f32) {\n"
     "%15 = neg %11 : f32[4]\nyield %13\n}\n",
     "works on scalars"},
    {"FoldFloat", "fold %0, %0, %0 (%11: f32) {\nyield\n}\n", "bounds must be integers"},
    {"FoldMixed", "fold %1, %2, %1 (%11: i32) {\nyield\n}\n", "scalars of one type"},
    {"FoldIndex", "fold %1, %1, %1 (%11: i64) {\nyield\n}\n", "wanted i32, found i64"},
    {"FoldCarried", "%12 = fold %1, %1, %1, %0 : f32 (%13: i32, %14: f32) {\nyield %13\n}\n",
     "wanted f32, found i32"},
    {"FoldYieldCount", "%12 = fold %1, %1, %1, %0 : f32 (%13: i32, %14: f32) {\nyield\n}\n",
     "wanted 1 yielded values, found 0"},
    {"IfCondition", "if %1 {\nyield\n} else {\nyield\n}\n", "the condition: wanted bool"},
    {"IfTile", "%11 = broadcast %3 : bool[4]\nif %11 {\nyield\n} else {\nyield\n}\n",
     "the condition: wanted bool"},
    {"IfArguments", "if %3 (%11: i32) {\nyield\n} else {\nyield\n}\n",
     "wanted 0 arguments, found 1"},
    {"IfBranches", "%11 = if %3 : i32 {\nyield %1\n} else {\nyield %2\n}\n",
     "wanted i32, found i64"},
};
INSTANTIATE_TEST_SUITE_P(Others, Verify, testing::ValuesIn(rules_of_the_rest),
                         [](const auto& i) { return i.param.rule; });

// What the text form cannot say.

void expect_refused(const Kernel& kernel, const std::string& said) {
  try {
    verify(kernel);
    ADD_FAILURE() << "accepted, but " << said;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find(said), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("kernel '" + kernel.name + "'"), std::string::npos);
  }
}

Kernel two_operations() {
  Builder b("k", {Type::scalar(DType::i32)});
  b.unary(Opcode::neg, b.unary(Opcode::abs, b.parameter(0)));
  return b.finish();
}

TEST(VerifyStructure, Names) {
  Kernel kernel = two_operations();
  kernel.name = "two words";
  expect_refused(kernel, "not an identifier");
}

TEST(VerifyStructure, Options) {
  Kernel kernel = two_operations();
  kernel.options.num_warps = 5;
  expect_refused(kernel, "num_warps: wanted 1, 2, 4, 8, 16 or 32, found 5");
  kernel.options = {};
  kernel.options.num_stages = 17;
  expect_refused(kernel, "num_stages");
  kernel.options = {};
  kernel.options.max_registers = 256;
  expect_refused(kernel, "max_registers");
}

TEST(VerifyStructure, ValuesOutOfRange) {
  Kernel kernel = two_operations();
  kernel.body.ops[1].operands[0] = 1000;
  expect_refused(kernel, "an operand is no value of this kernel");
  kernel = two_operations();
  kernel.body.ops[1].results[0] = no_value;
  expect_refused(kernel, "a result is no value of this kernel");
  kernel = two_operations();
  kernel.body.arguments.push_back(99);
  expect_refused(kernel, "no value of this kernel");
}

TEST(VerifyStructure, OneDefinition) {
  Kernel kernel = two_operations();
  kernel.body.ops[1].results = kernel.body.ops[0].results;
  expect_refused(kernel, "defined twice");
}

TEST(VerifyStructure, Order) {
  Kernel kernel = two_operations();
  std::swap(kernel.body.ops[0], kernel.body.ops[1]);
  expect_refused(kernel, "used before it is defined");
}

TEST(VerifyStructure, AttributesOfOthers) {
  const auto refused = [](const auto& change) {
    Kernel kernel = two_operations();
    change(kernel.body.ops[0]);
    expect_refused(kernel, "has no attribute");
  };
  refused([](Op& op) { op.bits = 1; });
  refused([](Op& op) { op.index = 1; });
  refused([](Op& op) { op.dims = {0}; });
  refused([](Op& op) { op.predicate = Predicate::lt; });
  refused([](Op& op) { op.cache = Cache::streaming; });
  refused([](Op& op) { op.precision = Precision::tf32; });
}

TEST(VerifyStructure, UnknownOpcode) {
  Kernel kernel = two_operations();
  kernel.body.ops[0].code = static_cast<Opcode>(200);
  expect_refused(kernel, "no such opcode");
}

TEST(VerifyStructure, Regions) {
  Kernel kernel = two_operations();
  kernel.body.ops[0].regions.emplace_back();
  expect_refused(kernel, "wanted 0 regions, found 1");
}

TEST(VerifyStructure, ReadOnlyIsForPointers) {
  Kernel kernel = two_operations();
  kernel.values[kernel.body.ops[0].results[0]].read_only = true;
  expect_refused(kernel, "only pointers can be read-only");
}

TEST(VerifyStructure, Nesting) {
  const auto nested = [](int levels) {
    Builder b("deep", {Type::scalar(DType::boolean)});
    const std::function<std::vector<ValueId>(int)> nest = [&](int left) {
      if (left > 0) {
        b.if_(
            b.parameter(0), [&] { return nest(left - 1); }, [] { return std::vector<ValueId>{}; });
      }
      return std::vector<ValueId>{};
    };
    nest(levels);
    return b.finish();
  };
  EXPECT_NO_THROW(nested(max_nesting));
  try {
    (void)nested(max_nesting + 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("more than 64 regions"), std::string::npos) << error.what();
  }
}

TEST(VerifyStructure, ErrorsNameTheOperation) {
  Kernel kernel = two_operations();
  kernel.values[kernel.body.ops[1].results[0]].dtype = DType::i64;
  expect_refused(kernel, "kernel 'k', operation 2 (neg): result 0: wanted i32, found i64");
}

}  // namespace
}  // namespace teeny::ir
