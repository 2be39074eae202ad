#include "tool/package/elf.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tool/boards/board_file.hpp"
#include "tool/package/elf_check.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

const char* const host_program = "/bin/ls";
const char* const arm_library = "/usr/aarch64-linux-gnu/lib/libstdc++.so.6";

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

ElfInfo arm_program(std::vector<VersionNeed> needs) {
  ElfInfo elf;
  elf.machine = elf_aarch64;
  elf.interpreter = "/lib/ld-linux-aarch64.so.1";
  elf.needed = {"libstdc++.so.6", "libc.so.6"};
  elf.needs = std::move(needs);
  return elf;
}

}  // namespace

TEST(Elf, ReadsAProgramOfThisMachine) {
  const ElfInfo elf = read_elf_file(host_program);
  EXPECT_TRUE(elf.machine == elf_x86_64 || elf.machine == elf_aarch64);
  EXPECT_EQ(elf.interpreter.rfind("/lib", 0), 0U) << elf.interpreter;
  EXPECT_TRUE(has(elf.needed, "libc.so.6"));
  ASSERT_FALSE(elf.needs.empty());
  const auto libc = std::find_if(elf.needs.begin(), elf.needs.end(), [](const VersionNeed& need) {
    return need.library == "libc.so.6" && need.version.rfind("GLIBC_2.", 0) == 0;
  });
  ASSERT_NE(libc, elf.needs.end());
  EXPECT_FALSE(libc->symbols.empty());
  const auto highest = highest_versions(elf);
  ASSERT_FALSE(highest.empty());
  EXPECT_EQ(highest.front().first, "GLIBC");
}

TEST(Elf, ReadsALibraryForAnotherMachine) {
  if (!fs::exists(arm_library)) GTEST_SKIP() << "no cross libraries here";
  const ElfInfo elf = read_elf_file(arm_library);
  EXPECT_EQ(elf.machine, elf_aarch64);
  EXPECT_TRUE(elf.interpreter.empty());
  EXPECT_TRUE(has(elf.needed, "libc.so.6"));
  EXPECT_TRUE(has(elf.needed, "libm.so.6"));
}

TEST(Elf, RefusesWhatIsDamaged) {
  const std::string whole = read_file(host_program);
  EXPECT_THROW(static_cast<void>(read_elf("hello", "x")), Error);
  EXPECT_THROW(static_cast<void>(read_elf("", "x")), Error);
  // Cut anywhere, it is read or refused, and nothing else happens.
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    try {
      static_cast<void>(read_elf(std::string_view(whole).substr(0, size), "cut"));
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("cut"), std::string::npos);
    }
  }
}

TEST(Elf, ComparesVersionsAsNumbers) {
  EXPECT_EQ(compare_versions("2.34", "2.34"), 0);
  EXPECT_LT(compare_versions("2.4", "2.34"), 0);
  EXPECT_GT(compare_versions("3.4.30", "3.4.9"), 0);
  EXPECT_LT(compare_versions("2.34", "2.34.1"), 0);
}

// P30: needs above the board's own libraries are found here, not on the board.
TEST(Pains, P30_NewerLibrariesThanTheBoardHas) {
  const Board orin = find_board("jetson-orin-nano");
  EXPECT_TRUE(check_elf(arm_program({{"libc.so.6", "GLIBC_2.34", {"a"}},
                                     {"libstdc++.so.6", "GLIBCXX_3.4.30", {}},
                                     {"libstdc++.so.6", "CXXABI_1.3.13", {}}}),
                        "bin/x", orin, {})
                  .empty());
  const auto findings = check_elf(arm_program({{"libc.so.6", "GLIBC_2.36", {"arc4random", "b"}},
                                               {"libstdc++.so.6", "GLIBCXX_3.4.31", {}},
                                               {"libstdc++.so.6", "CXXABI_1.3.14", {}},
                                               {"libc.so.6", "GLIBC_ABI_DT_RELR", {}}}),
                                  "bin/x", orin, {});
  ASSERT_EQ(findings.size(), 4U);
  for (const auto& finding : findings) EXPECT_EQ(finding.exit_code, finding_code::c_library);
  EXPECT_NE(findings[0].text.find("GLIBC_2.36 of libc.so.6 (arc4random and 1 more)"),
            std::string::npos)
      << findings[0].text;
  EXPECT_NE(findings[0].text.find("up to GLIBC_2.35"), std::string::npos);
  EXPECT_NE(findings[1].text.find("up to GLIBCXX_3.4.30"), std::string::npos);
  // The same program on a later generation.
  EXPECT_TRUE(check_elf(arm_program({{"libc.so.6", "GLIBC_2.36", {}}}), "bin/x",
                        find_board("jetson-orin-nano@7.2"), {})
                  .empty());
}

TEST(ElfCheck, MachineLoaderLibrariesAndPaths) {
  const Board orin = find_board("jetson-orin-nano");
  ElfInfo elf = arm_program({});
  elf.machine = elf_x86_64;
  ASSERT_EQ(check_elf(elf, "bin/x", orin, {}).size(), 1U);
  EXPECT_NE(check_elf(elf, "bin/x", orin, {})[0].text.find("AArch64"), std::string::npos);
  elf = arm_program({});
  elf.interpreter = "/lib/ld-musl-aarch64.so.1";
  elf.needed.push_back("libopencv_core.so.4");
  elf.run_paths = {"$ORIGIN/../lib", "/home/me/build"};
  EXPECT_EQ(check_elf(elf, "bin/x", orin, {}).size(), 3U);
  EXPECT_EQ(check_elf(elf, "bin/x", orin, {"libopencv_core.so.4"}).size(), 2U);
  elf = arm_program({});
  elf.needed.push_back("libcuda.so.1");
  EXPECT_TRUE(check_elf(elf, "bin/x", orin, {}).empty());
  EXPECT_EQ(check_elf(elf, "bin/x", find_board("generic-aarch64"), {}).size(), 1U);
}

TEST(Findings, AllAreToldAndTheLowestCodeIsReturned) {
  EXPECT_NO_THROW(throw_findings({}, "x"));
  try {
    throw_findings({{15, "first", "do this"}, {12, "second", "do that"}, {15, "third", "do this"}},
                   "why:");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 12);
    EXPECT_EQ(error.message(), "why:\n  first\n  second\n  third");
    EXPECT_EQ(error.next(), "do this\ndo that");
  }
}
