#include <gtest/gtest.h>

#include "compiler/assembler/assemble.hpp"
#include "compiler/assembler/cubin.hpp"
#include "compiler/assembler/report.hpp"
#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/cache/fake_assembler.hpp"
#include "tests/compiler/ptx_support.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler {
namespace {

const char* const good_ptx =
    ".version 7.4\n.target sm_87\n.address_size 64\n"
    ".visible .entry Kernel(.param .u64 p) .reqntid 32, 1, 1 {\n"
    ".reg .b64 %a<3>;\n.reg .b32 %r<2>;\n.shared .align 4 .b8 s[128];\n"
    "ld.param.u64 %a1, [p];\ncvta.to.global.u64 %a2, %a1;\nmov.u32 %r1, %tid.x;\n"
    "st.shared.u32 [s], %r1;\nbar.sync 0;\nld.shared.u32 %r1, [s+4];\n"
    "st.global.u32 [%a2], %r1;\nret;\n}\n";

ArtifactInfo info_of(Capability capability = Capability::sm_87) {
  ArtifactInfo info;
  info.kernel = "Kernel";
  info.capability = capability;
  info.ptx_version = find_capability(capability)->ptx_floor;
  info.target = Target(capability, *info.ptx_version).canonical();
  info.shared_bytes = 256;
  return info;
}

AssembleRequest request_for(const std::filesystem::path& program, AssemblerVersion version,
                            std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  return {info_of(), program, version, limit};
}

std::string refused(const AssembleRequest& request, std::string_view ptx = good_ptx) {
  try {
    static_cast<void>(assemble(request, ptx));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("kernel Kernel for sm_87"), std::string::npos);
    EXPECT_NE(error.message().find(request.assembler.string()), std::string::npos);
    EXPECT_NE(error.next().find("TEENY_PTXAS"), std::string::npos);
    return error.message();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

/// A script in ptxas's place.
class FakePtxas : public testing::Test {
 protected:
  AssembleRequest doing(const std::string& body, AssemblerVersion version = {12, 9, 86}) {
    return request_for(test::write_fake_ptxas(directory_.path() / "pt xas", version, body),
                       version);
  }
  static void expect_says(const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  TemporaryDirectory directory_;
};

TEST_F(FakePtxas, AFailureCarriesItsWords) {
  const std::string text =
      refused(doing("echo 'ptxas fatal : out of luck' >&2; echo more; exit 255"));
  expect_says(text, "ended with exit code 255");
  expect_says(text, "ptxas fatal : out of luck");
  expect_says(text, "more");
  expect_says(refused(doing("kill -SEGV $$")), "ended by signal 11");
}

TEST_F(FakePtxas, AHangIsStopped) {
  AssembleRequest request = doing("echo begun >&2; sleep 1000");
  request.limit = std::chrono::milliseconds(300);
  const auto began = std::chrono::steady_clock::now();
  const std::string text = refused(request);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  expect_says(text, "did not end within");
  expect_says(text, "begun");
}

TEST_F(FakePtxas, WhatIsNoMachineCodeIsRefused) {
  expect_says(refused(doing("exit 0")), "wrote nothing");
  expect_says(refused(doing("echo garbage > kernel.cubin")), "wrote 8 bytes that are no machine");
  expect_says(refused(doing("cp /bin/true kernel.cubin")), "no machine code");
  expect_says(refused(doing(": > kernel.cubin")), "wrote 0 bytes");
}

TEST_F(FakePtxas, IsStartedInADirectoryOfItsOwnWithoutAnEnvironment) {
  ::setenv("PTXAS_SECRET", "yes", 1);
  const std::string text = refused(
      doing("echo \"args: $*\"; ls; env | sort; case $PWD in /tmp/*) echo in temp;; esac; exit 1"));
  ::unsetenv("PTXAS_SECRET");
  expect_says(text, "args: -v -arch=sm_87 -O3 -o kernel.cubin kernel.ptx");
  expect_says(text, "kernel.ptx\n");
  expect_says(text, "in temp");
  EXPECT_EQ(text.find("SECRET"), std::string::npos) << text;
  EXPECT_EQ(text.find("HOME="), std::string::npos) << text;
}

TEST_F(FakePtxas, CannotBeStarted) {
  expect_says(refused(request_for("/nonexistent/ptxas", {12, 9, 86})), "cannot be started");
}

TEST_F(FakePtxas, IsNotAskedForWhatItsVersionCannotDo) {
  AssembleRequest request = doing("touch " + (directory_.path() / "started").string());
  request.version = {11, 8, 89};
  request.ptx.ptx_version = PtxVersion{8, 2};
  expect_says(refused(request), "reads up to PTX 7.8");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "started"));
}

TEST(AssemblerReport, AsThreeReleasesWriteIt) {
  const AssemblerReport eleven = read_report(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'Other' for 'sm_87'\n"
      "ptxas info    : Function properties for Other\n"
      "    8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads\n"
      "ptxas info    : Used 99 registers, 360 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'K' for 'sm_87'\n"
      "ptxas info    : Function properties for K\n"
      "    0 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 8 registers, 512 bytes smem, 360 bytes cmem[0]\n",
      "K");
  EXPECT_EQ(eleven.registers, 8);
  EXPECT_EQ(eleven.spill_bytes, 32);
  EXPECT_EQ(eleven.static_shared_bytes, 512U);
  const AssemblerReport thirteen = read_report(
      "ptxas info    : Compiling entry function 'K' for 'sm_87'\n"
      "ptxas info    : Function properties for K\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 360 bytes cmem[0]\n"
      "ptxas info    : Compile time = 6.146 ms\n",
      "K");
  EXPECT_EQ(thirteen.registers, 255);
  EXPECT_EQ(thirteen.spill_bytes, 0);
  EXPECT_EQ(thirteen.static_shared_bytes, 0U);
  for (const char* text :
       {"", "Used registers", "Compiling entry function 'K2' Used 8 registers"}) {
    EXPECT_EQ(read_report(text, "K").registers, -1) << text;
    EXPECT_EQ(read_report(text, "K").spill_bytes, -1) << text;
  }
}

// --- real ones
// ------------------------------------------------------------------------------------

class RealPtxas : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const auto found = find_ptxas_of(GetParam());
    ASSERT_TRUE(found) << "there is no ptxas of CUDA " << GetParam() << ": run ./setup";
    assembler_ = *found;
  }
  Assembler assembler_;
};

TEST_P(RealPtxas, MakesMachineCodeOfItsInterface) {
  const Artifact artifact = assemble(request_for(assembler_.program, assembler_.version), good_ptx);
  EXPECT_EQ(artifact.info.kind, ArtifactKind::cubin);
  EXPECT_EQ(artifact.info.assembler, assembler_name(assembler_.version));
  EXPECT_EQ(artifact.info.elf_abi, GetParam() >= 13 ? 8 : 7);
  EXPECT_GT(artifact.info.registers, 0);
  EXPECT_EQ(artifact.info.spill_bytes, 0);
  EXPECT_EQ(artifact.info.static_shared_bytes, 128U);
  EXPECT_EQ(artifact.info.shared_bytes, 256U);
  // Nothing of where and when.
  const Artifact again = assemble(request_for(assembler_.program, assembler_.version), good_ptx);
  EXPECT_EQ(again.pack(), artifact.pack());
  EXPECT_EQ(artifact.code.find("/tmp"), std::string::npos);
}

TEST_P(RealPtxas, SaysWhatItDoesNotTake) {
  const std::string text = refused(request_for(assembler_.program, assembler_.version),
                                   ".version 7.4\n.target sm_87\nnonsense\n");
  EXPECT_NE(text.find("Parsing error"), std::string::npos) << text;
}

// The table of assemblers, by trying: every capability that it says is assembled is, in the
// interface that it says, and what it says is not is refused.
TEST_P(RealPtxas, TheTableIsTrue) {
  int made = 0;
  for (const auto& chip : known_capabilities()) {
    const bool can = assembles(assembler_.version, chip.capability, chip.ptx_floor);
    const TemporaryDirectory directory;
    write_file(directory.path() / "k.ptx",
               ".version " + chip.ptx_floor.name() + "\n.target " + chip.capability.name() +
                   "\n.address_size 64\n.visible .entry K() { ret; }\n");
    Command command{
        {assembler_.program.string(), "-arch=" + chip.capability.name(), "-o", "k.cubin", "k.ptx"}};
    command.directory = directory.path();
    const ProcessResult result = run(command);
    EXPECT_EQ(result.exit_code == 0, can) << chip.capability.name() << "\n" << result.error;
    if (result.exit_code != 0) continue;
    const auto header = read_cubin_header(read_file(directory.path() / "k.cubin"));
    ASSERT_TRUE(header) << chip.capability.name();
    EXPECT_EQ(header->capability, chip.capability.number());
    EXPECT_EQ(header->abi, elf_abi(assembler_.version, chip.capability)) << chip.capability.name();
    ++made;
  }
  EXPECT_GE(made, 5);
}

TEST_P(RealPtxas, CutMachineCodeIsNone) {
  const Artifact artifact = assemble(request_for(assembler_.program, assembler_.version), good_ptx);
  EXPECT_TRUE(read_cubin_header(artifact.code));
  for (const std::size_t size : {0, 4, 40, 63, 64, 200}) {
    EXPECT_FALSE(read_cubin_header(artifact.code.substr(0, size))) << size;
  }
}

std::string major_name(const testing::TestParamInfo<int>& parameter) {
  return "cuda_" + std::to_string(parameter.param);
}

INSTANTIATE_TEST_SUITE_P(Assembler, RealPtxas, testing::Values(11, 12, 13), major_name);

}  // namespace
}  // namespace teeny::compiler
