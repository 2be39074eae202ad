#include "tool/completions/completions.hpp"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "tool/app.hpp"

#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

// A bash that has read the script, with a teeny that knows two boards and one program.
class Completions : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("bash")) GTEST_SKIP() << "no bash on this machine";
    Session session;
    const auto app = make_command_line(session);
    write_file(root_.path() / "completions", bash_completions(*app));
    write_file(root_.path() / "teeny",
               "#!/bin/sh\n"
               "case $1 in\n"
               "boards) echo 'orin-nano  sm_87 a board: @6.0'; echo 'orin-nx sm_87 one more' ;;\n"
               "completions) echo my_program ;;\n"
               "esac\n",
               0755);
    fs::create_directories(root_.path() / "work" / "dîr one");
    write_file(root_.path() / "work" / "my board.toml", "");
    fs::create_directories(root_.path() / ".ssh");
    write_file(root_.path() / ".ssh" / "config", "Host orin gate\n  Port 22\nHost *.lab\n");
  }

  /// What completes the last of the words.
  std::vector<std::string> complete(const std::vector<std::string>& words) {
    Command command{{"bash", "--norc", "-c",
                     "source ../completions || exit 1\n"
                     "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n"
                     "_teeny || exit 2\n"
                     "((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"\n"
                     "exit 0\n",
                     "bash", (root_.path() / "teeny").string()}};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.directory = root_.path() / "work";
    command.environment["HOME"] = root_.path().string();
    const auto result = run(command);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    if (result.output.empty()) return {};
    auto lines = split(trim(result.output), '\n');
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  TemporaryDirectory root_{"teeny complétions $x"};
};

using Words = std::vector<std::string>;

}  // namespace

TEST_F(Completions, CommandsAndTheirFlags) {
  EXPECT_EQ(complete({"dep"}), Words{"deploy"});
  EXPECT_EQ(complete({"--ver"}), Words{"--version"});
  EXPECT_EQ(complete({"deploy", "--ro"}), Words{"--rollback"});
  EXPECT_EQ(complete({"deploy", "--package", "p", "--dry"}), Words{"--dry-run"});
  const auto all = complete({""});
  for (const char* command : {"build", "inspect", "completions"}) {
    EXPECT_NE(std::find(all.begin(), all.end(), command), all.end()) << command;
  }
  EXPECT_TRUE(complete({"deploy", "--no-such"}).empty());
}

TEST_F(Completions, CommandsOfACommand) {
  EXPECT_EQ(complete({"boards", "pro"}), Words{"probe"});
  EXPECT_EQ(complete({"boards", "probe", "--pack"}), Words{"--package"});
  EXPECT_EQ(complete({"boards", "or"}), (Words{"orin-nano", "orin-nx"}));
}

TEST_F(Completions, ValuesByTheirKind) {
  EXPECT_EQ(complete({"build", "--target", "orin-na"}), Words{"orin-nano"});
  EXPECT_EQ(complete({"build", "--target", "=", "orin-nx"}), Words{"orin-nx"});
  EXPECT_EQ(complete({"build", "--target", "="}), (Words{"orin-nano", "orin-nx"}));
  EXPECT_EQ(complete({"build", "--target", "my"}), Words{"my board.toml"});
  EXPECT_EQ(complete({"build", "--example", "my"}), Words{"my_program"});
  EXPECT_EQ(complete({"deploy", "--package", "d"}), Words{"dîr one"});
  EXPECT_EQ(complete({"deploy", "--host", ""}), (Words{"gate", "orin"}));
  EXPECT_EQ(complete({"install-toolchain", "--cuda", "1"}), (Words{"11", "12", "13"}));
  EXPECT_EQ(complete({"completions", ""}), Words{"bash"});
}

TEST_F(Completions, WordsBehindTwoDashesAreAnothers) {
  EXPECT_EQ(complete({"run", "--package", "p", "--", "--on"}), Words{});
  EXPECT_EQ(complete({"run", "--", "my"}), Words{"my board.toml"});
}

TEST(KnownPrograms, OfAProjectThatIsNotConfiguredNone) {
  const TemporaryDirectory root;
  write_file(root.path() / "CMakeLists.txt", "project(demo)\n");
  EXPECT_TRUE(known_programs(root.path()).empty());
}
