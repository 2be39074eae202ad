#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cache/fake_compiler.hpp"
#include "tool/app.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/files.hpp"
#include "teeny/cache/package.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;
using teeny::test::Variable;

namespace {

struct Said {
  int exit_code;
  std::string output;
  std::string error;
};

// A package of this machine's architecture, or another, whose programs are scripts.
class Inspect : public testing::Test {
 protected:
  void package(const std::vector<std::string>& programs, bool this_machines = true) {
    const bool arm = (host_architecture() == "aarch64") == this_machines;
    const Board board = find_board(arm ? "jetson-orin-nano" : "h200-server");
    const nlohmann::json manifest = {{"schema", PackageContents::schema},
                                     {"name", "demo"},
                                     {"board", board.full_name()},
                                     {"triple", board.triple},
                                     {"programs", programs},
                                     {"devices", nlohmann::json::array()},
                                     {"files", nlohmann::json::array()}};
    fs::create_directories(package_ / "conf");
    fs::create_directories(package_ / "bin");
    write_file(package_ / PackageContents::path, manifest.dump());
    write_file(package_ / PackageContents::board_path, board_to_json(board));
    for (const auto& program : programs) {
      write_file(package_ / "bin" / program,
                 "#!/bin/sh\necho \"" + program + ":$*\"\n[ \"$2\" != Odd ] || exit 3\n", 0755);
    }
  }
  Said teeny(std::vector<std::string> words) {
    words.insert(words.begin(), {"teeny", "inspect"});
    std::vector<const char*> argv;
    for (const auto& word : words) argv.push_back(word.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Said said{run_tool(static_cast<int>(argv.size()), argv.data()), {}, {}};
    said.output = testing::internal::GetCapturedStdout();
    said.error = testing::internal::GetCapturedStderr();
    return said;
  }

  TemporaryDirectory root_;
  fs::path package_ = root_.path() / "a 'package' é";
};

}  // namespace

TEST_F(Inspect, APackagedProgramAnswers) {
  package({"shop"});
  const auto listed = teeny({"--package", package_.string()});
  EXPECT_EQ(listed.exit_code, 0) << listed.error;
  EXPECT_EQ(listed.output, "shop:--list\n");
  EXPECT_NE(listed.error.find("on this machine"), std::string::npos) << listed.error;
  const auto one = teeny({"Scale<f32>{n=1}", "--package", package_.string()});
  EXPECT_EQ(one.output, "shop:--inspect Scale<f32>{n=1}\n");
  EXPECT_EQ(teeny({"Odd", "--package", package_.string()}).exit_code, 3);
}

TEST_F(Inspect, OfSeveralProgramsTheOneThatIsNamed) {
  package({"one", "two"});
  EXPECT_EQ(teeny({"--package", package_.string(), "--bin", "two"}).output, "two:--list\n");
  const auto said = teeny({"--package", package_.string()});
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_NE(said.error.find("one, two"), std::string::npos) << said.error;
}

TEST_F(Inspect, WithoutAnEmulatorItSaysWhatToDo) {
  package({"shop"}, false);
  const Variable path("PATH", (root_.path() / "nothing").string());
  const auto said = teeny({"Scale", "--package", package_.string()});
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_NE(said.error.find("qemu-"), std::string::npos) << said.error;
  EXPECT_NE(said.error.find("inspect the build for this machine"), std::string::npos) << said.error;
}

TEST_F(Inspect, WantsAProgram) {
  const auto said = teeny({"Scale"});
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_NE(said.error.find("--package DIR"), std::string::npos) << said.error;
  EXPECT_EQ(teeny({"Scale", "--package", "p", "--example", "x"}).exit_code, 2);
  EXPECT_EQ(teeny({"--package", root_.path().string()}).exit_code, 1);
}
