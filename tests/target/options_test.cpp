#include "teeny/target/options.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"

namespace teeny {
namespace {

const CpuTarget orin_cpu{"aarch64-linux-gnu", "cortex-a78ae", ""};

CompileRequest cuda(std::string_view options,
                    std::optional<std::string_view> environment = std::nullopt) {
  return parse_options("cuda", options, environment, std::nullopt);
}

CompileRequest cpu(std::string_view options, const std::optional<CpuTarget>& given = orin_cpu) {
  return parse_options("cpu", options, std::nullopt, given);
}

template <class Parse>
std::string refused(const Parse& parse) {
  try {
    static_cast<void>(parse());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

std::string cuda_refused(std::string_view options,
                         std::optional<std::string_view> environment = std::nullopt) {
  return refused([&] { return cuda(options, environment); });
}

std::string cpu_refused(std::string_view options,
                        const std::optional<CpuTarget>& given = orin_cpu) {
  return refused([&] { return cpu(options, given); });
}

void expect_says(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}

TEST(CudaOptions, AllOfThem) {
  const std::string options =
      "capability=8.7,ptx-version=82,driver=12.6,max-registers=64,line-info=yes,opt-level=3,jobs=4,"
      "log-level=debug";
  const auto request = cuda(options);
  EXPECT_EQ(request.target.canonical(),
            "device=cuda;capability=sm_87;ptx-version=8.2;driver=12.6;max-registers=64;"
            "line-info=yes;opt-level=3;");
  EXPECT_EQ(request.jobs, 4);
  EXPECT_EQ(request.log_level, "debug");
  EXPECT_EQ(request.device, "cuda");
  EXPECT_EQ(request.options, options);
}

TEST(CudaOptions, MachineCodeIsMadeWhereADriverIsNamed) {
  EXPECT_FALSE(cuda("capability=sm_87").wants_machine_code());
  EXPECT_FALSE(cuda("capability=sm_87,machine-code=auto").wants_machine_code());
  EXPECT_TRUE(cuda("capability=sm_87,driver=12.6").wants_machine_code());
  EXPECT_TRUE(cuda("capability=sm_87,driver=12.6,machine-code=auto").wants_machine_code());
  EXPECT_TRUE(cuda("machine-code=yes,capability=sm_87,driver=12.6").wants_machine_code());
  EXPECT_FALSE(cuda("capability=sm_87,driver=12.6,machine-code=no").wants_machine_code());
  EXPECT_EQ(cuda("capability=sm_87,driver=12.6,machine-code=yes").machine_code,
            MachineCodeOption::yes);
  EXPECT_FALSE(cpu("").wants_machine_code());
  // It decides what is made besides, not what PTX is: no part of the target.
  EXPECT_EQ(cuda("capability=sm_87,driver=12.6,machine-code=no").target.canonical(),
            cuda("capability=sm_87,driver=12.6,machine-code=yes").target.canonical());
  expect_says(cuda_refused("capability=sm_87,machine-code=yes"), "wanted driver=... too");
  expect_says(cuda_refused("capability=sm_87,machine-code=maybe"), "wanted auto, yes or no");
  expect_says(cpu_refused("machine-code=yes"), "machine-code belongs to --device cuda");
}

TEST(CudaOptions, TheSeedsOwn) {
  const auto request = cuda("capability=sm_87,ptx-version=82");
  EXPECT_EQ(request.target.cuda().capability, Capability::sm_87);
  EXPECT_EQ(request.target.cuda().ptx_version, (PtxVersion{8, 2}));
  EXPECT_EQ(request.jobs, std::nullopt);
}

TEST(CudaOptions, CapabilityHasNoDefault) {
  const auto text = cuda_refused("");
  expect_says(text, "capability=");
  expect_says(text, "sm_87");
  cuda_refused("ptx-version=82");
}

TEST(CudaOptions, ThreeBoundsOfPtx) {
  expect_says(cuda_refused("capability=sm_87,ptx-version=99"),
              "--options ptx-version=9.9: wanted PTX 9.1 or earlier, the ceiling of");
  expect_says(cuda_refused("capability=sm_87,ptx-version=73"),
              "--options ptx-version=7.3: wanted PTX 7.4 or later, the floor of sm_87");
  expect_says(cuda_refused("capability=sm_120,ptx-version=86"),
              "8.7 or later, the floor of sm_120");
  EXPECT_EQ(cuda("capability=sm_120,ptx-version=87").target.cuda().ptx_version->name(), "8.7");
  expect_says(cuda_refused("capability=87,ptx-version=85,driver=12.2"),
              "8.2 or earlier, the ceiling of driver 12.2");
  expect_says(cuda_refused("capability=sm_120,driver=12.6"), "8.7, the floor of sm_120");
  expect_says(cuda_refused("capability=sm_120,driver=12.6"), "CUDA 12.8 or later");
  expect_says(cuda_refused("capability=sm_87,ptx-version=8"), "such as 82 or 8.2");
}

TEST(CudaOptions, TheEnvironmentIsHeardWhenTheKeyIsAbsent) {
  EXPECT_EQ(cuda("capability=87", "82").target.cuda().ptx_version->name(), "8.2");
  EXPECT_EQ(cuda("capability=87,ptx-version=8.3", "82").target.cuda().ptx_version->name(), "8.3");
  EXPECT_EQ(cuda("capability=87,ptx-version=8.3", "rubbish").target.cuda().ptx_version->name(),
            "8.3");
  for (const char* value : {"99", "73", "rubbish", "", "8.9"}) {
    const auto text = cuda_refused("capability=87", value);
    EXPECT_EQ(text.rfind("TEENYC_PTX_VERSION=", 0), 0U) << text;
  }
  // The variable is about PTX; a CPU has none.
  EXPECT_NO_THROW(static_cast<void>(parse_options("cpu", "", "rubbish", orin_cpu)));
}

TEST(CudaOptions, Values) {
  expect_says(cuda_refused("capability=87,driver=12"), "--options driver=12:");
  expect_says(cuda_refused("capability=87,driver=11.0"), "CUDA 11.4 or later");
  EXPECT_NO_THROW(static_cast<void>(cuda("capability=87,driver=13.2")));
  for (const char* value : {"15", "256", "-1", "x", "1e2"}) {
    expect_says(cuda_refused(std::string("capability=87,max-registers=") + value),
                "a number from 16 to 255");
  }
  expect_says(cuda_refused("capability=87,line-info=true"), "yes or no");
  expect_says(cuda_refused("capability=87,opt-level=4"), "a number from 0 to 3");
  expect_says(cuda_refused("capability=87,jobs=0"), "a number from 1 to 1024");
  expect_says(cuda_refused("capability=87,log-level=loud"), "error, warning, notice or debug");
}

TEST(Options, Grammar) {
  expect_says(cuda_refused("capability"), "key=value");
  expect_says(cuda_refused("capability=87,"), "key=value");
  expect_says(cuda_refused(",capability=87"), "key=value");
  expect_says(cuda_refused("=87"), "key=value");
  expect_says(cuda_refused("capability="), "wanted a value");
  expect_says(cuda_refused("capability=87,capability=87"), "capability once");
  // No trimming, no quoting: the bytes are what they are.
  expect_says(cuda_refused("capability=87, ptx-version=82"), "\" ptx-version\"");
  expect_says(cuda_refused("capability=\"87\""), "\"\"87\"\"");
  expect_says(cuda_refused("capability=sm_87=1"), "sm_87=1");
}

TEST(Options, UnknownKeys) {
  auto text = cuda_refused("capabilty=87");
  expect_says(text, "found \"capabilty\"");
  expect_says(text, "did you mean capability?");
  for (const auto& key : option_keys("cuda")) expect_says(text, key);
  text = cuda_refused("capability=87,triple=aarch64-linux-gnu");
  expect_says(text, "triple belongs to --device cpu");
  expect_says(cpu_refused("capability=87"), "capability belongs to --device cuda");
  // Not accepted before it acts.
  cuda_refused("capability=87,machine-code=yes");
  expect_says(refused([] { return parse_options("rocm", "", std::nullopt, std::nullopt); }),
              "--device rocm: wanted cuda or cpu");
}

TEST(Options, KeysOfText) {
  EXPECT_TRUE(has_option("capability=87,jobs=2", "jobs"));
  EXPECT_TRUE(has_option("jobs", "jobs"));
  EXPECT_FALSE(has_option("capability=jobs", "jobs"));
  EXPECT_FALSE(has_option("", "jobs"));
  EXPECT_TRUE(option_keys("rocm").empty());
}

TEST(CpuOptions, DefaultsComeFromTheBoard) {
  EXPECT_EQ(cpu("").target.canonical(),
            "device=cpu;triple=aarch64-linux-gnu;cpu=cortex-a78ae;features=;opt-level=2;");
  EXPECT_EQ(cpu("triple=aarch64-unknown-linux-gnu").target.cpu().cpu, "cortex-a78ae");
  const auto text = cpu_refused("", std::nullopt);
  expect_says(text, "cpu=");
  expect_says(text, "cortex-a78ae");
}

TEST(CpuOptions, Named) {
  const auto request = cpu("cpu=x86-64-v3,features=+avxvnni,opt-level=1,jobs=2", std::nullopt);
  EXPECT_EQ(request.target.canonical(),
            "device=cpu;triple=x86_64-linux-gnu;cpu=x86-64-v3;features=+avxvnni;opt-level=1;");
  EXPECT_EQ(cpu("triple=x86_64-unknown-linux-gnu,cpu=znver4").target.cpu().triple,
            "x86_64-linux-gnu");
  EXPECT_EQ(cpu("cpu=carmel", std::nullopt).target.cpu().triple, "aarch64-linux-gnu");
  // Features of the default processor are not those of another.
  EXPECT_EQ(cpu("cpu=carmel", CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", "+sve"})
                .target.cpu()
                .features,
            "");
}

TEST(CpuOptions, Refused) {
  for (const char* name : {"x86-64", "x86-64-v2"}) {
    expect_says(cpu_refused(std::string("cpu=") + name), "FMA");
  }
  auto text = cpu_refused("cpu=cortex-a78aee");
  expect_says(text, "did you mean cortex-a78ae?");
  expect_says(text, "neoverse-v3ae");
  expect_says(cpu_refused("triple=aarch64-linux-gnu,cpu=x86-64-v3"),
              "wanted a processor of aarch64-linux-gnu, found one of x86_64-linux-gnu");
  expect_says(cpu_refused("triple=x86_64-linux-gnu"), "wanted a cpu=...");
  expect_says(cpu_refused("triple=riscv64-linux-gnu"), "x86_64-linux-gnu or aarch64-linux-gnu");
  expect_says(cpu_refused("features=Dot"), "features=Dot");
}

TEST(CpuOptions, HostIsMadeConcrete) {
  CpuTarget host;
  try {
    host = host_cpu_target();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(cpu("cpu=host", std::nullopt).target.cpu().cpu, host.cpu);
  EXPECT_EQ(cpu("cpu=host", std::nullopt).target.cpu().triple, host.triple);
}

}  // namespace
}  // namespace teeny
