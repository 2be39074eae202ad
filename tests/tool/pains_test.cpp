#include <gtest/gtest.h>

#include "tool/boards/board_file.hpp"
#include "tool/commands/devices.hpp"
#include "tool/package/elf_check.hpp"
#include "tool/package/kernels.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/records.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

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

}  // namespace

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
    const auto kernels = list_kernels(package.path(), {"app"}, findings);
    check_kernels_complete(package.path(), {"app"}, kernels, orin, devices, findings);
    std::string text;
    for (const auto& finding : findings) {
      EXPECT_EQ(finding.exit_code, finding_code::incomplete) << finding.text;
      text += finding.text + "\n";
    }
    return text;
  };
  const fs::path directory = package.path() / "cache";
  EXPECT_NE(findings_of({"cuda"}).find("cache is empty"), std::string::npos);
  Artifact artifact;
  artifact.info.kind = ArtifactKind::ptx;
  artifact.info.kernel = "Scale";
  artifact.info.fingerprint = std::string(64, '1');
  artifact.info.key = std::string(64, '2');
  artifact.info.target = Target(Capability::sm_87, PtxVersion{8, 2}).canonical();
  artifact.info.capability = Capability::sm_87;
  artifact.info.ptx_version = PtxVersion{8, 2};
  artifact.code = ".version 8.2\n.target sm_87\n";
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
