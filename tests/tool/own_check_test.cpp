#include "tool/package/own_check.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/cache/fake_compiler.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;
using teeny::test::Variable;

namespace {

Board board_of(bool this_machines) {
  const bool arm = (host_architecture() == "aarch64") == this_machines;
  return find_board(arm ? "jetson-orin-nano" : "h200-server");
}

// A package whose program is a script, or (for an emulator, which wants an ELF file) any program;
// and a folder for PATH with nothing in it.
class OwnCheck : public testing::Test {
 protected:
  void program(const std::string& lines) { script(package_ / "bin" / "demo", lines); }
  void emulator(const Board& board, const std::string& lines) {
    fs::create_directories(package_ / "bin");
    fs::copy_file("/proc/self/exe", package_ / "bin" / "demo");
    script(path_ / ("qemu-" + architecture_of(board)), lines);
  }
  std::vector<Finding> run(const Board& board) {
    const Variable path("PATH", path_.string());
    std::vector<Finding> findings;
    run_own_check(package_, "demo", board, {}, findings);
    return findings;
  }

  TemporaryDirectory root_;
  fs::path package_ = root_.path() / "a 'package' $x";
  fs::path path_ = root_.path() / "path";

 private:
  static void script(const fs::path& file, const std::string& lines) {
    fs::create_directories(file.parent_path());
    write_file(file, "#!/bin/sh\n" + lines, 0755);
  }
};

}  // namespace

TEST_F(OwnCheck, RunsAProgramOfThisMachineByItself) {
  program(
      "echo checking demo: a package\n"
      "[ \"$1\" = --check ] && [ \"$2\" = --board ] && [ -z \"$HOME\" ] || exit 99\n"
      "[ \"$3\" = \"$(dirname \"$0\")/../conf/board.json\" ] || [ -n \"$3\" ] || exit 98\n");
  EXPECT_TRUE(run(board_of(true)).empty());
}

TEST_F(OwnCheck, WhatItFindsIsAFindingWithItsCode) {
  program("echo checking demo: a package; echo wanted this, found that >&2; exit 11\n");
  const auto findings = run(board_of(true));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].exit_code, 11);
  EXPECT_NE(findings[0].text.find("wanted this, found that"), std::string::npos);
  EXPECT_NE(findings[0].text.find("on this machine"), std::string::npos);
}

TEST_F(OwnCheck, ACrashInTheCheckIsAFinding) {
  program("echo checking demo: a package; kill -SEGV $$\n");
  const auto findings = run(board_of(true));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].exit_code, 1);
  EXPECT_NE(findings[0].text.find("signal 11"), std::string::npos) << findings[0].text;
}

TEST_F(OwnCheck, OneThatCannotStartHereIsNone) {
  // No such library, no such instruction: before the check begins, or while it runs.
  for (const char* lines : {"echo cannot open shared object file >&2; exit 127\n",
                            "echo checking demo: a package; kill -ILL $$\n"}) {
    program(lines);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(run(board_of(true)).empty());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("demo's own check was not run"),
              std::string::npos);
  }
}

TEST_F(OwnCheck, P36_AnEmulatorIsStartedByItsPathAndNotNeeded) {
  const Board board = board_of(false);
  // None: said, and the package is as good.
  program("exit 15\n");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(run(board).empty());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("own check was not run: this machine is " +
                                                        host_architecture()),
            std::string::npos);
  fs::remove(package_ / "bin" / "demo");
  // One: it gets the program as a word, and its answer counts.
  emulator(board, "echo checking demo: a package; echo \"$@\" >&2; exit 15\n");
  const auto findings = run(board);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].exit_code, 15);
  EXPECT_NE(findings[0].text.find("under " + (path_ / "qemu-").string()), std::string::npos);
  EXPECT_NE(findings[0].text.find((package_ / "bin" / "demo").string() + " --check --board " +
                                  (package_ / "conf" / "board.json").string()),
            std::string::npos)
      << findings[0].text;
}
