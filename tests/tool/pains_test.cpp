#include <gtest/gtest.h>

#include "tests/tool/package_support.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/commands/devices.hpp"
#include "tool/doctor/diagnosis.hpp"
#include "tool/package/elf_check.hpp"
#include "tool/package/kernels.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/records.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;
using teeny::test::code_of;
using teeny::test::ptx_of;

namespace {

// One line, with both sides in it.
void expect_both_sides(const std::string& text, const std::string& wanted,
                       const std::string& found) {
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  const auto left = text.find("wanted ");
  ASSERT_NE(left, std::string::npos) << text;
  EXPECT_NE(text.find(wanted, left), std::string::npos) << text;
  EXPECT_NE(text.find(found, left), std::string::npos) << text;
  EXPECT_LT(text.size(), 240U) << text;
}

std::string clash(const DeviceArgument& argument, const Board& board) {
  try {
    static_cast<void>(check_device_for_board(argument, board));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_FALSE(error.next().empty());
    return error.message();
  }
  ADD_FAILURE() << "accepted: " << argument.options.value_or("");
  return "";
}

std::vector<CompileRequest> requests_of(const std::vector<std::string>& devices) {
  std::vector<CompileRequest> requests;
  for (const auto& device : devices) {
    requests.push_back(parse_options(device, device == "cuda" ? "capability=sm_87" : "",
                                     std::nullopt, CpuTarget{"aarch64-linux-gnu", "generic", {}}));
  }
  return requests;
}

/// A package for the default generation of jetson-orin-nano, whose program has one kernel.
class PackageOfOne {
 public:
  [[nodiscard]] const fs::path& path() const { return directory_.path(); }
  /// The artifact's path below the cache.
  std::string add(const Artifact& artifact) const {
    return Cache(cache()).publish(artifact).lexically_relative(cache()).generic_string();
  }
  /// With these artifacts in the program's record, as `options` asked for them.
  [[nodiscard]] std::vector<Finding> check(const std::vector<std::string>& artifacts,
                                           const std::string& options,
                                           std::vector<std::string>* notices = nullptr) const {
    ProgramRecords records("app");
    records.add("5Scale", {"Scale", "Scale", std::string(64, '1'), artifacts});
    records.write(cache());
    std::vector<Finding> findings;
    std::vector<std::string> told;
    const auto kernels = list_kernels(path(), {"app"}, findings);
    check_kernels_complete(path(), {"app"}, kernels, find_board("jetson-orin-nano"),
                           {parse_options("cuda", options, std::nullopt, std::nullopt)}, findings,
                           told);
    if (notices != nullptr) *notices = told;
    return findings;
  }

 private:
  [[nodiscard]] fs::path cache() const { return path() / "cache"; }
  TemporaryDirectory directory_{"package of one"};
};

}  // namespace

// P02: minor versions are compatible in machine code, not in PTX: a package for a board has the
// former, so that it runs where the driver's JIT is switched off.
TEST(Pains, P02_APackageForABoardHoldsMachineCodeThatLoadsThere) {
  const PackageOfOne package;
  const auto ptx = package.add(ptx_of(Capability::sm_87, {7, 4}));
  std::vector<std::string> notices;
  auto findings = package.check({ptx}, "capability=sm_87,driver=12.2", &notices);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].exit_code, finding_code::incomplete);
  EXPECT_NE(findings[0].text.find("wanted machine code that jetson-orin-nano@6.0 loads"),
            std::string::npos)
      << findings[0].text;
  EXPECT_NE(findings[0].text.find("found PTX alone"), std::string::npos) << findings[0].text;
  const auto code = package.add(code_of(Capability::sm_87, {12, 9, 86}));
  EXPECT_TRUE(package.check({ptx, code}, "capability=sm_87,driver=12.2").empty());
  EXPECT_TRUE(notices.empty());
  // Only where the user says so, and then the time that it costs is told.
  EXPECT_TRUE(
      package.check({ptx}, "capability=sm_87,driver=12.2,machine-code=no", &notices).empty());
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("compiles at every start"), std::string::npos) << notices[0];
}

// P03: a package says of each kernel what it is for, and one that the board could use neither form
// of is refused.
TEST(Pains, P03_AKernelInNoUsableFormIsRefusedAndTheFormsAreListed) {
  const PackageOfOne package;
  const auto ptx = package.add(ptx_of(Capability::sm_87, {8, 5}));         // above the driver's 8.2
  const auto code = package.add(code_of(Capability::sm_87, {13, 0, 88}));  // newer than the driver
  const auto findings = package.check({ptx, code}, "capability=sm_87,driver=12.2");
  std::string text;
  for (const auto& finding : findings) text += finding.text + "\n";
  EXPECT_NE(text.find("wanted a driver that loads PTX 8.5"), std::string::npos) << text;
  EXPECT_NE(text.find("machine code of ptxas 13.0.88"), std::string::npos) << text;
  EXPECT_NE(text.find("driver 12.2"), std::string::npos) << text;
  Manifest manifest;
  std::vector<Finding> none;
  manifest.kernels = list_kernels(package.path(), {"app"}, none);
  const std::string json = manifest.to_json();
  for (const char* part :
       {"\"sm\": \"sm_87\"", "\"ptx\": \"8.5\"", "\"kind\": \"ptx\"", "\"kind\": \"cubin\"",
        "\"assembler\": \"ptxas 13.0.88\"", "\"elf_abi\": 8", "\"registers\": 24"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

// P04: which assembler there is and what it takes is shown, and one that is too old is an error
// before anything is compiled.
TEST(Pains, P04_AnAssemblerThatIsTooOldIsToldBeforeAnythingIsCompiled) {
  const FoundAssemblers found{{{"/usr/local/cuda/bin/ptxas", {11, 8, 89}}}, {}};
  const CudaTarget target = check_device_for_board({"cuda", "capability=sm_87,ptx-version=84"},
                                                   find_board("jetson-orin-nano@6.2"))
                                .request.target.cuda();
  try {
    static_cast<void>(
        require_assembler(found, *target.driver, target.capability, target.ptx_version));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 1);
    EXPECT_NE(error.message().find("wanted ptxas of CUDA 12"), std::string::npos);
    EXPECT_NE(error.message().find("reads PTX 8.4"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("up to PTX 7.8"), std::string::npos) << error.message();
    EXPECT_NE(error.next().find("install-toolchain"), std::string::npos);
  }
  Diagnosis diagnosis;
  diagnose_assemblers(found, {find_board("jetson-orin-nano")}, diagnosis);
  const std::string text = as_text(diagnosis);
  for (const char* part : {"/usr/local/cuda/bin/ptxas", "11.8.89", "7.8", "11.0 and later"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// P08: every mismatch is one line that says what was wanted and what the board has.
TEST(Pains, P08_EveryMismatchIsOneLineWithBothSides) {
  const Board orin = find_board("jetson-orin-nano");
  expect_both_sides(clash({"cuda", "capability=sm_89"}, orin), "8.9",
                    "jetson-orin-nano@6.0 has 8.7");
  expect_both_sides(clash({"cuda", "capability=sm_87,ptx-version=85"}, orin), "8.5", "8.2");
  expect_both_sides(clash({"cuda", "capability=sm_90a"}, orin), "sm_90a", "8.7");
  expect_both_sides(clash({"cpu", "cpu=x86-64-v3"}, orin), "x86_64-linux-gnu", "aarch64-linux-gnu");
  expect_both_sides(clash({"cuda", "capability=sm_87"}, find_board("generic-aarch64")), "sm_87",
                    "has none");
  ElfInfo elf;
  elf.machine = elf_x86_64;
  expect_both_sides(check_elf(elf, "bin/x", orin, {}).at(0).text, "AArch64", "x86-64");
  elf.machine = elf_aarch64;
  elf.interpreter = "/lib/ld-linux-aarch64.so.1";
  elf.needs = {{"libc.so.6", "GLIBC_2.36", {}}};
  expect_both_sides(check_elf(elf, "bin/x", orin, {}).at(0).text, "GLIBC_2.36",
                    "has up to GLIBC_2.35");
}

// P37: what is not in the package would have to be compiled on the board, so it is refused here.
TEST(Pains, P37_APackageWithoutItsKernelsIsRefused) {
  const Board orin = find_board("jetson-orin-nano");
  const TemporaryDirectory package("package");
  const auto findings_of = [&](const std::vector<std::string>& devices) {
    std::vector<Finding> findings;
    std::vector<std::string> notices;
    const auto kernels = list_kernels(package.path(), {"app"}, findings);
    check_kernels_complete(package.path(), {"app"}, kernels, orin, requests_of(devices), findings,
                           notices);
    std::string text;
    for (const auto& finding : findings) {
      EXPECT_EQ(finding.exit_code, finding_code::incomplete) << finding.text;
      text += finding.text + "\n";
    }
    return text;
  };
  const fs::path directory = package.path() / "cache";
  EXPECT_NE(findings_of({"cuda"}).find("cache is empty"), std::string::npos);
  const Artifact artifact = ptx_of(Capability::sm_87, {8, 2});
  const fs::path file = Cache(directory).publish(artifact);
  EXPECT_NE(findings_of({"cuda"}).find("no record"), std::string::npos);
  ProgramRecords records("app");
  records.add("5Scale", {"Scale",
                         "Scale",
                         artifact.info.fingerprint,
                         {file.lexically_relative(directory).generic_string()}});
  records.write(directory);
  EXPECT_EQ(findings_of({"cuda"}), "");
  EXPECT_NE(findings_of({"cuda", "cpu"}).find("for device cpu"), std::string::npos);
  // Altered by one byte, and gone.
  std::string bytes = read_file(file);
  bytes[3] = 'x';
  write_file(file, bytes);
  EXPECT_NE(findings_of({"cuda"}), "");
  fs::remove(file);
  EXPECT_NE(findings_of({"cuda"}), "");
}
