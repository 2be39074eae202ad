#include <set>

#include <gtest/gtest.h>

#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/ir/random_kernel.hpp"

namespace teeny::compiler {
namespace {

class EveryChip : public testing::TestWithParam<Capability> {};

TEST_P(EveryChip, AssemblesEverySample) {
  std::vector<std::string> texts;
  std::set<std::string> names;
  for (const SampleKernel& sample : sample_kernels()) {
    texts.push_back(compile_ptx(prepare(sample.kernel), {GetParam()}).code);
    ASSERT_TRUE(names.insert(sample.kernel.name).second) << sample.kernel.name;
  }
  const Assembled assembled = assemble(texts, GetParam());
  EXPECT_TRUE(assembled.good) << assembled.log;
  for (const SampleKernel& sample : sample_kernels()) {
    const auto spills = assembled.spill_bytes.find(sample.kernel.name);
    ASSERT_NE(spills, assembled.spill_bytes.end()) << sample.kernel.name;
    // CUDA 12's is the newest assembler for Xavier, and gives this one a register too few.
    const bool one_double =
        GetParam() == Capability::sm_72 && sample.kernel.name == "matmul_f64_32x16x8";
    EXPECT_LE(spills->second, one_double ? 8 : 0) << sample.kernel.name;
  }
}

TEST_P(EveryChip, AssemblesRandomKernels) {
  std::vector<std::string> texts;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const ir::RandomKernel random = ir::random_kernel(seed);
    texts.push_back(compile_ptx(prepare(random.kernel), {GetParam()}).code);
  }
  const Assembled assembled = assemble(texts, GetParam());
  EXPECT_TRUE(assembled.good) << assembled.log;
}

std::string chip_name(const testing::TestParamInfo<Capability>& parameter) {
  return parameter.param.name();
}

INSTANTIATE_TEST_SUITE_P(Ptxas, EveryChip, testing::ValuesIn(all_capabilities()), chip_name);

}  // namespace
}  // namespace teeny::compiler
