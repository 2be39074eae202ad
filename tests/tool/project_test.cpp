#include "tool/project/project.hpp"

#include <gtest/gtest.h>

#include "tool/project/cmake_inputs.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

// Directory names as users have them: P40.
constexpr const char* awkward = "my project 'é $HOME";

void make_project(const fs::path& root, const std::string& more = {}) {
  fs::create_directories(root / "examples" / "deep");
  write_file(root / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\n# project(no)\n  Project (demo LANGUAGES CXX)\n"
             "option(FAST \"quick\" OFF)\nadd_executable(app app.cpp)\n"
             "set_target_properties(app PROPERTIES OUTPUT_NAME \"the app\" "
             "RUNTIME_OUTPUT_DIRECTORY \"${CMAKE_BINARY_DIR}/out\")\n"
             "if(FAST)\n target_compile_definitions(app PRIVATE FAST=1)\nendif()\n"
             "add_subdirectory(examples/deep)\n" +
                 more);
  write_file(
      root / "app.cpp",
      "#include <cstdio>\nint main() { std::puts(__FILE__);\n#ifdef FAST\nstd::puts(\"fast\");\n"
      "#endif\n}\n");
  write_file(root / "examples" / "deep" / "CMakeLists.txt",
             "# added by the one above\nadd_executable(small small.cpp)\n");
  write_file(root / "examples" / "deep" / "small.cpp", "int main() {}\n");
}

Selection of_bin(const std::string& name) {
  Selection selection;
  selection.bins = {name};
  return selection;
}

std::string build_and_run(const fs::path& root, const Selection& selection) {
  BuildTree tree(root, std::nullopt, selection);
  tree.configure();
  const auto targets = tree.selected();
  tree.build(targets);
  return run({{tree.artifact(targets.at(0)).string()}}).output;
}

}  // namespace

TEST(Project, RootIsTheNearestThatCallsProject) {
  const TemporaryDirectory directory(awkward);
  const fs::path root = fs::canonical(directory.path());
  make_project(root);
  EXPECT_EQ(find_project_root(root), root);
  EXPECT_EQ(find_project_root(root / "examples" / "deep"), root);
  EXPECT_THROW(static_cast<void>(find_project_root("/proc")), Error);
}

TEST(Pains, P40_ProjectsOnAwkwardPaths) {
  const TemporaryDirectory directory(awkward);
  make_project(directory.path());
  // The path of this machine is not in the program.
  EXPECT_EQ(build_and_run(directory.path(), of_bin("app")), "./app.cpp\n");
  Selection fast = of_bin("app");
  fast.features = "FAST";
  EXPECT_EQ(build_and_run(directory.path(), fast), "./app.cpp\nfast\n");
  // What is not asked for any more is off again.
  EXPECT_EQ(build_and_run(directory.path(), of_bin("app")), "./app.cpp\n");
}

TEST(Project, SelectsByNameAndSaysTheChoices) {
  const TemporaryDirectory directory("select");
  make_project(directory.path(), "add_library(part STATIC app.cpp)\n");
  const auto refused = [&](Selection selection) -> std::string {
    try {
      BuildTree tree(directory.path(), std::nullopt, selection);
      tree.configure();
      static_cast<void>(tree.selected());
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return "";
  };
  EXPECT_NE(refused(of_bin("ap")).find("did you mean app"), std::string::npos);
  EXPECT_NE(refused(of_bin("part")).find("app, small"), std::string::npos);
  Selection example;
  example.examples_named = {"app"};
  EXPECT_NE(refused(example).find("choose one of: small"), std::string::npos);
  Selection features = of_bin("app");
  features.features = "QUICK";
  EXPECT_NE(refused(features).find("FAST"), std::string::npos);
  features.features = "-DX";
  EXPECT_NE(refused(features).find("-DX"), std::string::npos);
  Selection package = of_bin("app");
  package.package = "other";
  EXPECT_NE(refused(package).find("demo"), std::string::npos);
  Selection examples;
  examples.all_examples = true;
  BuildTree tree(directory.path(), std::nullopt, examples);
  tree.configure();
  ASSERT_EQ(tree.selected().size(), 1U);
  EXPECT_EQ(tree.selected()[0].name, "small");
}

TEST(Project, ABuildForABoardTakesNoFlagsOfTheHost) {
  const TemporaryDirectory directory("flags");
  ::setenv("CXXFLAGS", "-march=native", 1);
  ::setenv("CPATH", "/somewhere", 1);
  Board board;
  board.name = "b";
  board.triple = "aarch64-linux-gnu";
  const auto of_board = BuildTree(directory.path(), board, {}).environment();
  EXPECT_EQ(of_board.count("CXXFLAGS") + of_board.count("CPATH"), 0U);
  EXPECT_EQ(of_board.count("PATH"), 1U);
  EXPECT_EQ(BuildTree(directory.path(), std::nullopt, {}).environment().count("CXXFLAGS"), 1U);
  ::unsetenv("CXXFLAGS");
  ::unsetenv("CPATH");
}

TEST(CMakeInputs, QuotesAnyText) {
  const TemporaryDirectory directory("quote");
  const std::vector<std::string> texts = {
      "",  "a",  "a b;c", "$ENV{HOME} ${x}", "a]", "a]]b", "]=]", "\nx", "\\", "\"",
      "é", "]=", "x]="};
  std::string script = "set(all)\n";
  std::string expected;
  for (const auto& text : texts) {
    script += "set(v " + cmake_quote(text) + ")\nstring(APPEND all \"<${v}>\")\n";
    expected += "<" + text + ">";
  }
  script += "file(WRITE out \"${all}\")\n";
  write_file(directory.path() / "s.cmake", script);
  Command command{{"cmake", "-P", "s.cmake"}};
  command.directory = directory.path();
  const auto result = run(command);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(read_file(directory.path() / "out"), expected);
}

TEST(Project, OnTheHostItsKernelsAloneStandForAProgram) {
  const TemporaryDirectory directory("kernels alone");
  make_project(directory.path(), "add_executable(app.kernels EXCLUDE_FROM_ALL app.cpp)\n");
  BuildTree tree(directory.path(), std::nullopt, of_bin("app"));
  tree.configure();
  EXPECT_EQ(tree.selected().at(0).name, "app.kernels");
  EXPECT_EQ(tree.selected().at(0).program(), "app");
  BuildTree other(directory.path(), std::nullopt, of_bin("small"));
  other.configure();
  EXPECT_EQ(other.selected().at(0).name, "small");
  // Nobody is told to choose it.
  BuildTree wrong(directory.path(), std::nullopt, of_bin("ap"));
  wrong.configure();
  try {
    static_cast<void>(wrong.selected());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.next(), "choose one of: app, small");
  }
}
