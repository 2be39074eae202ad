#include "teeny/ir/difference.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/ir/random_kernel.hpp"
#include "tests/ir/sample_kernel.hpp"

#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::ir {
namespace {

using Values = std::vector<ValueId>;
using Body = std::function<void(Builder&)>;

Kernel kernel(const Body& body, const std::string& name = "k", KernelOptions options = {}) {
  Builder b(name, {Type::pointer_to(DType::f32), Type::scalar(DType::i32)}, options);
  body(b);
  return b.finish();
}

Difference difference(const Kernel& wanted, const Kernel& found) {
  const auto result = first_difference(wanted, found);
  EXPECT_TRUE(result) << print(wanted) << print(found);
  return result.value_or(Difference{});
}

ValueId f32(Builder& b, double value) {
  return b.constant(Type::scalar(DType::f32), encode(DType::f32, value));
}

TEST(Difference, OfEqualKernelsIsNone) {
  EXPECT_FALSE(first_difference(sample_kernel(), sample_kernel()));
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Kernel made = random_kernel(seed).kernel;
    EXPECT_FALSE(first_difference(made, parse(print(made)))) << seed;
  }
}

TEST(Difference, NamesTheOperationFarthestUpTheOperands) {
  const auto make = [](double factor) {
    return kernel([factor](Builder& b) {
      const ValueId x = b.load(b.parameter(0));
      const ValueId scaled = b.binary(Opcode::mul, x, f32(b, factor));
      b.store(b.parameter(0), b.unary(Opcode::exp, b.binary(Opcode::add, scaled, x)));
    });
  };
  const Difference found = difference(make(0.5), make(0.25));
  EXPECT_EQ(found.wanted, "line 4: %3 = constant bits=0x3f000000 : f32  # 0.5");
  EXPECT_EQ(found.found, "line 4: %3 = constant bits=0x3e800000 : f32  # 0.25");
}

TEST(Difference, IsNotTheOrderOfRecording) {
  const auto make = [](bool swapped, Opcode code) {
    return kernel([=](Builder& b) {
      ValueId half = no_value;
      if (swapped) half = f32(b, 0.5);
      const ValueId x = b.load(b.parameter(0));
      if (!swapped) half = f32(b, 0.5);
      b.store(b.parameter(0), b.binary(code, x, half));
    });
  };
  EXPECT_FALSE(first_difference(make(true, Opcode::mul), make(false, Opcode::mul)));
  const Difference found = difference(make(true, Opcode::mul), make(false, Opcode::add));
  EXPECT_EQ(found.wanted, "line 5: %4 = mul %3, %2 : f32");
  EXPECT_EQ(found.found, "line 5: %4 = add %2, %3 : f32");
}

TEST(Difference, OfTheKernelsOwnLine) {
  const Body nothing = [](Builder&) {};
  Difference found = difference(kernel(nothing, "k", {8, 1, 0}), kernel(nothing));
  EXPECT_EQ(found.wanted, "num_warps=8 num_stages=1 max_registers=0");
  EXPECT_EQ(found.found, "num_warps=4 num_stages=1 max_registers=0");
  found = difference(kernel(nothing), kernel(nothing, "other"));
  EXPECT_EQ(found.wanted, "kernel k");
  EXPECT_EQ(found.found, "kernel other");
  Builder wide("k", {Type::pointer_to(DType::f32), Type::scalar(DType::i64)});
  found = difference(kernel(nothing), wide.finish());
  EXPECT_EQ(found.wanted, "arguments (ptr<f32>, i32)");
  EXPECT_EQ(found.found, "arguments (ptr<f32>, i64)");
}

TEST(Difference, OfOneEffectMoreOrLess) {
  const auto make = [](int stores) {
    return kernel([=](Builder& b) {
      for (int i = 0; i < stores; ++i) b.store(b.parameter(0), f32(b, i));
    });
  };
  EXPECT_EQ(difference(make(2), make(1)).wanted, "line 6: store %0, %3");
  EXPECT_EQ(difference(make(2), make(1)).found, "nothing more");
  EXPECT_EQ(difference(make(0), make(1)).wanted, "nothing more");
}

TEST(Difference, InsideOfRegions) {
  const auto make = [](Opcode inner, bool second) {
    return kernel([=](Builder& b) {
      const ValueId n = b.parameter(1);
      const Values sums = b.fold(n, n, n, {n, n}, [&](const Values& a) {
        return Values{b.binary(inner, a[1], a[0]), a[second ? 1 : 2]};
      });
      b.store(b.parameter(0), b.cast(b.binary(Opcode::add, sums[0], sums[1]), DType::f32));
    });
  };
  Difference found = difference(make(Opcode::add, false), make(Opcode::mul, false));
  EXPECT_NE(found.wanted.find("= add %"), std::string::npos) << found.wanted;
  EXPECT_NE(found.found.find("= mul %"), std::string::npos) << found.found;
  found = difference(make(Opcode::add, false), make(Opcode::add, true));
  EXPECT_EQ(found.wanted, "argument 3 of fold in line 3: i32");
  EXPECT_EQ(found.found, "argument 2 of fold in line 3: i32");
}

TEST(Difference, OfParametersAndOfPlacesAmongWrites) {
  const auto swapped = [](bool first) {
    Builder b("k",
              {Type::pointer_to(DType::i32), Type::scalar(DType::i32), Type::scalar(DType::i32)});
    b.store(b.parameter(0), b.parameter(first ? 1 : 2));
    return b.finish();
  };
  const Difference found = difference(swapped(true), swapped(false));
  EXPECT_EQ(found.wanted, "parameter 2: i32");
  EXPECT_EQ(found.found, "parameter 3: i32");
  const auto late = [](bool is_late) {
    return kernel([=](Builder& b) {
      const ValueId early = b.load(b.parameter(0));
      b.store(b.parameter(0), f32(b, 1));
      b.store(b.parameter(0), is_late ? b.load(b.parameter(0)) : early);
    });
  };
  EXPECT_NE(difference(late(false), late(true)).wanted.find("another place among the writes"),
            std::string::npos);
}

TEST(Difference, OfLongFlowsTakesLinearTime) {
  const auto make = [](double last) {
    return kernel([=](Builder& b) {
      ValueId x = f32(b, last);
      for (int i = 0; i < 20000; ++i) x = b.binary(Opcode::add, x, x);
      b.store(b.parameter(0), x);
    });
  };
  EXPECT_NE(difference(make(1), make(2)).wanted.find("# 1"), std::string::npos);
}

}  // namespace
}  // namespace teeny::ir
