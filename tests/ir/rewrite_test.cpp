#include "teeny/ir/rewrite.hpp"

#include <gtest/gtest.h>

#include "tests/ir/random_kernel.hpp"
#include "tests/ir/sample_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::ir {
namespace {

using Values = std::vector<ValueId>;
using Result = std::optional<Values>;

TEST(Rewrite, LeavingAllAsItIsCopies) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Kernel kernel = random_kernel(seed).kernel;
    const Kernel copy = rewrite(kernel, [](Builder&, const Op&, const Op&) { return Result{}; });
    ASSERT_EQ(print(copy), print(kernel)) << "seed " << seed;
  }
}

TEST(Rewrite, ReplacesInsideRegionsToo) {
  const auto is_gone = [](const Kernel& kernel, const std::string& word) {
    return print(kernel).find(word) == std::string::npos;
  };
  const Kernel kernel = sample_kernel();
  ASSERT_FALSE(is_gone(kernel, "= div "));
  const Kernel changed = rewrite(kernel, [](Builder& b, const Op& mapped, const Op& op) {
    if (op.code != Opcode::div) return Result{};
    return Result{{b.binary(Opcode::mul, mapped.operands[0], mapped.operands[1])}};
  });
  EXPECT_TRUE(is_gone(changed, "= div "));
}

TEST(Rewrite, RegionsCanBeSpliced) {
  Builder b("k", {Type::pointer_to(DType::i32)});
  const ValueId yes = b.constant(Type::scalar(DType::boolean), 1);
  const Values x = b.if_(
      yes,
      [&] {
        const ValueId four = b.constant(Type::scalar(DType::i32), 4);
        b.store(b.parameter(0), four);
        return Values{b.load(b.parameter(0))};
      },
      [&] { return Values{b.constant(Type::scalar(DType::i32), 5)}; });
  b.store(b.parameter(0), x[0]);
  const Kernel kernel = rewrite(b.finish(), [](Builder& builder, const Op& mapped, const Op& op) {
    if (op.code != Opcode::if_) return Result{};
    return Result{builder.splice(mapped.regions[0])};
  });
  EXPECT_EQ(print(kernel),
            "teeny-ir 1\n"
            "kernel k(%0: ptr<i32>) num_warps=4 num_stages=1 max_registers=0 {\n"
            "  %1 = constant bits=0x1 : bool  # true\n"
            "  %2 = constant bits=0x4 : i32  # 4\n"
            "  store %0, %2\n"
            "  %3 = load %0 : i32\n"
            "  store %0, %3\n"
            "}\n");
}

TEST(Rewrite, ResultsMustBeAsMany) {
  EXPECT_THROW((void)rewrite(sample_kernel(),
                             [](Builder&, const Op&, const Op&) { return Result{Values{}}; }),
               Error);
}

TEST(Rewrite, OptionsNameAndParametersStay) {
  const Kernel kernel = sample_kernel("other", {8, 3, 128});
  const Kernel copy = rewrite(kernel, [](Builder&, const Op&, const Op&) { return Result{}; });
  EXPECT_EQ(copy.name, "other");
  EXPECT_EQ(copy.options, kernel.options);
  EXPECT_EQ(copy.parameters(), kernel.parameters());
}

}  // namespace
}  // namespace teeny::ir
