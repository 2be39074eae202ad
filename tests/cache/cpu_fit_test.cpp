#include "cache/cpu_fit.hpp"

#include <gtest/gtest.h>

namespace teeny::detail {
namespace {

CpuTarget cpu(const std::string& name, const std::string& features = "") {
  const bool x86 = name.find("x86") == 0 || name.find("zn") == 0 || name.find("sky") == 0 ||
                   name.find("ice") == 0 || name.find("sapphire") == 0 || name == "haswell";
  return {x86 ? "x86_64-linux-gnu" : "aarch64-linux-gnu", name, features};
}

bool fits(const CpuTarget& wanted, const Processor& processor, std::string* why = nullptr) {
  std::string ignored;
  return cpu_fits(wanted, processor, why != nullptr ? why : &ignored);
}

const Processor v3{cpu("x86-64-v3"), {}};
const Processor v4{cpu("x86-64-v4"), {}};

TEST(CpuFit, LevelsAreOrdered) {
  EXPECT_TRUE(fits(cpu("x86-64-v3"), v3));
  EXPECT_TRUE(fits(cpu("x86-64-v3"), v4));
  EXPECT_TRUE(fits(cpu("haswell"), v3));
  EXPECT_TRUE(fits(cpu("skylake-avx512"), v4));
  std::string why;
  EXPECT_FALSE(fits(cpu("x86-64-v4"), v3, &why));
  EXPECT_NE(why.find("wanted x86-64-v4"), std::string::npos) << why;
  EXPECT_NE(why.find("x86-64-v3"), std::string::npos) << why;
}

TEST(CpuFit, AChipsOwnInstructionsMustBeThere) {
  EXPECT_FALSE(fits(cpu("znver3"), v3));
  EXPECT_TRUE(fits(cpu("znver3"), {cpu("x86-64-v3"), {"vaes", "vpclmulqdq"}}));
  EXPECT_FALSE(fits(cpu("sapphirerapids"), v4));
}

TEST(CpuFit, OtherMachinesNeverFit) {
  EXPECT_FALSE(fits(cpu("generic"), v4));
  EXPECT_FALSE(fits(cpu("x86-64-v3"), {cpu("generic"), {"asimd"}}));
}

TEST(CpuFit, ArmIsJudgedByAbilityNotByName) {
  // What an emulator, or a newer chip, calls "generic" may well run code for an Orin.
  const Processor able{
      cpu("generic"),
      {"asimd", "crc32", "atomics", "asimdrdm", "fphp", "asimdhp", "asimddp", "lrcpc"}};
  EXPECT_TRUE(fits(cpu("cortex-a78ae"), able));
  EXPECT_TRUE(fits(cpu("carmel"), able));
  EXPECT_FALSE(fits(cpu("neoverse-v3ae"), able));
  std::string why;
  EXPECT_FALSE(fits(cpu("cortex-a78ae"), {cpu("cortex-a57"), {"asimd", "crc32"}}, &why));
  EXPECT_NE(why.find("atomics"), std::string::npos) << why;
}

TEST(CpuFit, NamedFeaturesAreCheckedAndUnknownOnesRefused) {
  const Processor base{cpu("cortex-a78ae"), {"asimddp"}};
  EXPECT_TRUE(fits(cpu("cortex-a78ae", "+dotprod"), base));
  EXPECT_TRUE(fits(cpu("cortex-a78ae", "+-sve"), base));
  EXPECT_FALSE(fits(cpu("cortex-a78ae", "+fp16fml"), base));
  std::string why;
  EXPECT_FALSE(fits(cpu("cortex-a78ae", "+brandnew"), base, &why));
  EXPECT_NE(why.find("brandnew"), std::string::npos);
}

TEST(CpuFit, TheOwnProcessorRanksFirstThenTheMostDemanding) {
  EXPECT_GT(cpu_rank(cpu("x86-64-v4"), v4), cpu_rank(cpu("x86-64-v3"), v4));
  EXPECT_GT(cpu_rank(cpu("x86-64-v3"), v3), cpu_rank(cpu("skylake-avx512"), v3));
  const Processor generic{cpu("generic"), {}};
  EXPECT_GT(cpu_rank(cpu("generic"), generic), cpu_rank(cpu("cortex-a78ae"), generic));
  EXPECT_GT(cpu_rank(cpu("cortex-a78ae"), generic), cpu_rank(cpu("cortex-a57"), generic));
}

TEST(CpuFit, HwcapBitsAreTheKernels) {
  const auto features = arm_features(1UL << 1 | 1UL << 8 | 1UL << 20, 1UL << 14);
  EXPECT_EQ(features, (std::set<std::string, std::less<>>{"asimd", "atomics", "asimddp", "bf16"}));
}

TEST(CpuFit, ThisMachineRunsItsOwnCode) {
  const CpuTarget host = host_cpu_target();
  EXPECT_TRUE(fits(host, {host, processor_features()}));
}

}  // namespace
}  // namespace teeny::detail
