#pragma once

#include <gtest/gtest.h>

#include "tests/cache/fake_compiler.hpp"

#include "teeny/base/process.hpp"
#include "teeny/cache/artifact.hpp"

namespace teeny::test {

namespace fs = std::filesystem;

inline const fs::path test_program = TEENY_BUILD_DIR "/tests/runtime_test_program";
inline const fs::path fake_driver = TEENY_BUILD_DIR "/tests/fake_driver";

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    environment_ = {{"FAKE_CODE", TEENY_BUILD_DIR "/tests/runtime_test_kernels.so"},
                    {"TEENYC_CACHE_DIR", (root_.path() / "cache dir").string()},
                    {"TRACE_LOG", (root_.path() / "traces").string()}};
  }
  ProcessResult run_program(std::vector<std::string> words, const fs::path& which = test_program) {
    words.insert(words.begin(), which.string());
    Command command;
    command.argv = std::move(words);
    command.environment = environment_;
    command.timeout = std::chrono::seconds(120);
    return run(command);
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  }

  test::FakeCompiler compiler_;
  TemporaryDirectory root_;
  std::map<std::string, std::string> environment_;
};

// The program in a package's shape: bin/, cache/, conf/manifest.json.
class PackageTest : public ProgramTest {
 protected:
  PackageTest() {
    fs::permissions(root_.path(), fs::perms::others_exec | fs::perms::others_read,
                    fs::perm_options::add);
    for (const char* name : {"bin", "cache", "conf"}) fs::create_directories(package_ / name);
    fs::copy_file(test_program, packaged_);
    const ProcessResult made = run_program(
        {"--device", "cpu", "--device", "cuda", "--options", "capability=sm_87,ptx-version=82",
         "--cache-dir", (package_ / "cache").string()},
        packaged_);
    EXPECT_EQ(made.exit_code, 0) << made.error;
    write_file(package_ / "conf" / "manifest.json", "{}");  // from here on it is closed
    fs::remove(root_.path() / "traces");
  }
  // As on a board: nothing in the environment but what the test itself needs.
  ProcessResult on_board(std::vector<std::string> words) {
    words.insert(words.begin(), packaged_.string());
    Command command;
    command.argv = std::move(words);
    command.clear_environment = true;
    command.environment = board_;
    return run(command);
  }
  fs::path artifact(const std::string& kernel, const std::string& start) const {
    for (const std::string& name : test::files_below(package_ / "cache")) {
      if (name.compare(0, kernel.size() + 1, kernel + "-") == 0 &&
          name.find("/" + start + ".") != std::string::npos) {
        return package_ / "cache" / name;
      }
    }
    ADD_FAILURE() << "no artifact of " << kernel;
    return {};
  }

  fs::path package_ = root_.path() / "a 'package' é";
  fs::path packaged_ = package_ / "bin" / "runtime_test_program";
  std::map<std::string, std::string> board_ = {{"TRACE_LOG", (root_.path() / "traces").string()}};
};

}  // namespace teeny::test
