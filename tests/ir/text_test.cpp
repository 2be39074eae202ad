#include "teeny/ir/text.hpp"

#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/ir/random_kernel.hpp"
#include "tests/ir/sample_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/fingerprint.hpp"

namespace teeny::ir {
namespace {

/// Reads a text that may be anything; true when it is a kernel. Any other exception than an
/// Error(input) fails the test.
bool is_kernel(const std::string& text) {
  try {
    (void)parse(text);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    EXPECT_EQ(error.message().rfind("IR text, line ", 0), 0U) << error.what();
    return false;
  }
}

void expect_error(const std::string& text, const std::string& said) {
  try {
    (void)parse(text);
    ADD_FAILURE() << "accepted:\n" << text;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(said), std::string::npos) << error.what() << "\nlacks " << said;
  }
}

void collect_opcodes(const Block& block, std::set<Opcode>& seen) {
  for (const Op& op : block.ops) {
    seen.insert(op.code);
    for (const Block& region : op.regions) collect_opcodes(region, seen);
  }
}

TEST(Text, RandomKernelsComeBackTheSame) {
  std::set<Opcode> seen;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Kernel kernel = random_kernel(seed).kernel;
    collect_opcodes(kernel.body, seen);
    const std::string text = print(kernel);
    const Kernel again = parse(text);
    ASSERT_EQ(print(again), text) << "seed " << seed;
    ASSERT_EQ(fingerprint(again), fingerprint(kernel)) << "seed " << seed;
    EXPECT_EQ(again.name, kernel.name);
    EXPECT_EQ(again.options, kernel.options);
    EXPECT_EQ(again.parameters(), kernel.parameters());
  }
  for (const Opcode code : all_opcodes()) {
    EXPECT_TRUE(seen.count(code) == 1) << "no random kernel has " << name(code);
  }
}

TEST(Text, LooksAsDocumented) {
  Builder b("row_sum", {Type::pointer_to(DType::f32, true), Type::pointer_to(DType::f32),
                        Type::scalar(DType::i32)});
  const ValueId from = b.offset(b.broadcast(b.parameter(0), {64}), b.arange(0, 64));
  const ValueId x = b.load(from, no_value, no_value, Cache::streaming);
  using Values = std::vector<ValueId>;
  const Values sum =
      b.reduce({x}, 0, [&](const Values& p) { return Values{b.binary(Opcode::add, p[0], p[1])}; });
  const ValueId half = b.constant(Type::scalar(DType::f32), 0x3f000000);
  const ValueId mean = b.binary(Opcode::mul, sum[0], half);
  const ValueId zero = b.constant(Type::scalar(DType::i32), 0);
  b.if_(
      b.compare(Predicate::gt, b.parameter(2), zero),
      [&] {
        b.store(b.parameter(1), mean);
        return Values{};
      },
      [] { return Values{}; });
  const std::string text = print(b.finish());
  const std::size_t sum_at = text.find("= reduce");
  ASSERT_NE(sum_at, std::string::npos) << text;
  EXPECT_EQ(text.substr(text.find("  %7 = reduce")),
            R"(  %7 = reduce %6 index=0 : f32 (%8: f32, %9: f32) {
    %10 = add %8, %9 : f32
    yield %10
  }
  %11 = constant bits=0x3f000000 : f32  # 0.5
  %12 = mul %7, %11 : f32
  %13 = constant bits=0x0 : i32  # 0
  %14 = compare %2, %13 predicate=gt : bool
  if %14 {
    store %1, %12
    yield
  } else {
    yield
  }
}
)");
  EXPECT_EQ(text.rfind("teeny-ir 1\nkernel row_sum(%0: ptr<const f32>, %1: ptr<f32>, %2: i32) "
                       "num_warps=4 num_stages=1 max_registers=0 {\n",
                       0),
            0U)
      << text;
}

TEST(Text, ConstantsSayWhatTheyMean) {
  const auto comment = [](DType dtype, std::uint64_t bits) {
    Builder b("k", {});
    b.constant(Type::scalar(dtype), bits);
    const std::string text = print(b.finish());
    const std::size_t at = text.find("# ") + 2;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(comment(DType::boolean, 1), "true");
  EXPECT_EQ(comment(DType::i8, 0x80), "-128");
  EXPECT_EQ(comment(DType::i64, ~std::uint64_t{0}), "-1");
  EXPECT_EQ(comment(DType::u64, ~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(comment(DType::u8, 0x80), "128");
  EXPECT_EQ(comment(DType::f32, 0x3dcccccd), "0.1");
  EXPECT_EQ(comment(DType::f16, 0xbc00), "-1");
  EXPECT_EQ(comment(DType::bf16, 0x3f80), "1");
  EXPECT_EQ(comment(DType::f64, 0x3fb999999999999a), "0.1");
  EXPECT_EQ(comment(DType::f32, 0x80000000), "-0.0");
  EXPECT_EQ(comment(DType::f32, 0xff800000), "-inf");
  EXPECT_EQ(comment(DType::f16, 0x7c00), "inf");
  EXPECT_EQ(comment(DType::bf16, 0x7fc0), "nan");
  EXPECT_EQ(comment(DType::f64, 0x7ff0000000000001), "nan");
}

TEST(Text, EveryBeginningIsRefused) {
  const std::string text = print(sample_kernel());
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_FALSE(is_kernel(text.substr(0, length))) << "cut after byte " << length;
  }
  ASSERT_TRUE(is_kernel(text));
}

TEST(Text, DamageNeverCrashes) {
  const std::string text = print(sample_kernel());
  std::mt19937 random(7);
  const std::string alphabet = "%0123456789abcdefxkernl()[]{}<>:,=#-_ \n\t\r\"'\\\xc3\x80\xff";
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = text;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % damaged.size();
      const std::size_t count = 1 + random() % 8;
      switch (random() % 4) {
        case 0:
          damaged[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          damaged.erase(at, count);
          break;
        case 2:
          damaged.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        default:
          damaged.insert(at, text.substr(random() % text.size(), count));
          break;
      }
    }
    (void)is_kernel(damaged);
  }
  for (int round = 0; round < 2000; ++round) {
    std::string noise;
    for (std::size_t length = random() % 200; length > 0; --length) {
      noise += static_cast<char>(random() & 0xffU);
    }
    EXPECT_FALSE(is_kernel(noise));
    EXPECT_FALSE(is_kernel("teeny-ir 1\nkernel k() " + noise));
  }
}

std::string in_kernel(const std::string& operations) {
  return "teeny-ir 1\nkernel k(%0: i32) num_warps=4 num_stages=1 max_registers=0 {\n" + operations +
         "}\n";
}

TEST(Text, ErrorsSayWhereAndWhat) {
  expect_error("", "line 1, column 1: wanted 'teeny-ir', found the end of the text");
  expect_error("teeny-ir 2\n", "line 1, column 10: wanted version 1 of the IR text, found 2");
  expect_error(in_kernel("  %1 = bogus %0 : i32\n"),
               "line 3, column 8: wanted an operation, found 'bogus'");
  expect_error(in_kernel("  %1 = neg %0 : i33\n"), "line 3, column 17: wanted an element type");
  expect_error(in_kernel("  %1 = neg %2 : i32\n"), "line 3, column 12: '%2' is used before");
  expect_error(in_kernel("  %0 = neg %0 : i32\n"), "line 3, column 3: '%0' is defined a second");
  expect_error(in_kernel("  %1 = neg %0\n"), "wanted ':', found the end of the line");
  expect_error(in_kernel("  %1 = neg %0 : i32 %2\n"), "wanted the end of the line, found '%2'");
  expect_error(in_kernel("\n  # a comment\n  %1 = neg %0 : f32\n"), "line 5, column 3: kernel 'k'");
  expect_error(in_kernel("") + "x", "wanted nothing more, found 'x'");
  expect_error(in_kernel("\r\n"), "the byte 0x0d is not part of the language");
  expect_error(in_kernel("\t"), "the byte 0x09");
  expect_error(in_kernel("%\n"), "wanted a number behind '%'");
  expect_error(in_kernel("%99999999999999999999 = neg %0 : i32\n"), "wanted a value such as %0");
}

TEST(Text, AttributesAreCheckedOneByOne) {
  expect_error(in_kernel("%1 = constant : i32\n"), "wanted the attributes of constant");
  expect_error(in_kernel("%1 = constant bits=0x0 bits=0x1 : i32\n"), "a second time");
  expect_error(in_kernel("%1 = constant bits=0x0 index=1 : i32\n"), "has no attribute 'index'");
  expect_error(in_kernel("%1 = constant colour=1 : i32\n"), "has no attribute 'colour'");
  expect_error(in_kernel("%1 = constant bits=0x10000000000000000 : i64\n"), "at most 64 bits");
  expect_error(in_kernel("%1 = constant bits=18446744073709551616 : i64\n"), "at most 64 bits");
  expect_error(in_kernel("%1 = constant bits=-1 : i64\n"), "at most 64 bits");
  expect_error(in_kernel("%1 = constant bits=0xg : i64\n"), "at most 64 bits");
  expect_error(in_kernel("%1 = program_id index=9223372036854775808 : i32\n"), "a number from");
  expect_error(in_kernel("%1 = arange index=- : i32[4]\n"), "a number from");
  expect_error(in_kernel("%1 = compare %0, %0 predicate=less : bool\n"), "wanted a predicate");
  expect_error(in_kernel("%1 = permute %0 dims=[99999999999] : i32\n"), "a number from");
  EXPECT_TRUE(is_kernel(in_kernel("%1 = arange index=-2147483648 : i32[4]\n")));
  EXPECT_TRUE(is_kernel(in_kernel("%1 = constant bits=7 : i32\n")));
  EXPECT_TRUE(is_kernel(in_kernel("%1 = permute %0 dims=[] : i32\n")));
}

TEST(Text, ExtentsAreChecked) {
  for (const char* extents : {"[]", "[x]", "[4x]", "[4xx4]", "[-4]", "[4,4]",
                              "[99999999999999999999]", "[0]", "[2097152]", "[0x4]"}) {
    EXPECT_FALSE(is_kernel(in_kernel("%1 = broadcast %0 : i32" + std::string(extents) + "\n")))
        << extents;
  }
}

TEST(Text, DeepNestingIsRefusedNotSuffered) {
  std::string operations;
  for (int i = 0; i < 100000; ++i) {
    operations += "fold %0, %0, %0 (%" + std::to_string(i + 1) + ": i32) {\n";
  }
  expect_error(in_kernel(operations), "more than 64 regions inside one another");
}

TEST(Text, NumbersOfValuesAreFree) {
  const Kernel kernel = parse(
      "teeny-ir 1  # version\n\n# a kernel\nkernel k(%7: i32) num_warps=1 num_stages=2 "
      "max_registers=64 {\n%18446744073709551615 = neg %7 : i32\n\n%3=abs "
      "%18446744073709551615:i32#tight\n}\n");
  EXPECT_EQ(print(kernel),
            "teeny-ir 1\nkernel k(%0: i32) num_warps=1 num_stages=2 max_registers=64 {\n"
            "  %1 = neg %0 : i32\n  %2 = abs %1 : i32\n}\n");
}

}  // namespace
}  // namespace teeny::ir
