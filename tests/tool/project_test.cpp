#include "tool/project/project.hpp"

#include <gtest/gtest.h>

#include "tool/installation.hpp"
#include "tool/project/cmake_inputs.hpp"
#include "tool/project/source_units.hpp"
#include "tool/project/stale_kernels.hpp"
#include "tool/project/tidy.hpp"

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

TEST(StaleKernels, ReadsWhatNinjaWouldDo) {
  const PendingBuild compiles = parse_dry_run(
      "ninja: Entering directory `x'\n[1/3] Building CXX object CMakeFiles/app.dir/a b.cpp.o\n"
      "[2/3] Building C object CMakeFiles/app.dir/c.c.o\n[3/3] Linking CXX executable app\n");
  EXPECT_EQ(compiles.objects,
            (std::vector<std::string>{"CMakeFiles/app.dir/a b.cpp.o", "CMakeFiles/app.dir/c.c.o"}));
  EXPECT_FALSE(compiles.more);
  EXPECT_TRUE(parse_dry_run("[1/2] Generating table.hpp\n").more);
  EXPECT_TRUE(parse_dry_run("ninja: no work to do.\n").objects.empty());
}

TEST(StaleKernels, AUnitHoldsKernelsWhenItIncludesTheLanguage) {
  // Where a path holds a blank and a quote behind it, ninja takes nothing for up to date.
  const TemporaryDirectory directory("my projé ct");
  const fs::path& root = directory.path();
  fs::create_directories(root / "teeny" / "lang");
  write_file(root / "teeny" / "lang" / "tile.hpp", "#pragma once\n");
  // Globs that are looked at before each build are nothing that is due.
  write_file(root / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\nproject(demo LANGUAGES CXX)\n"
             "file(GLOB sources CONFIGURE_DEPENDS *.cpp)\nadd_executable(app ${sources})\n"
             "target_include_directories(app PRIVATE ${CMAKE_SOURCE_DIR})\n");
  write_file(root / "kernel.cpp", "#include \"teeny/lang/tile.hpp\"\nint main() {}\n");
  write_file(root / "plain.cpp", "int plain = 1;\n");
  BuildTree tree(root, std::nullopt, of_bin("app"));
  tree.configure();
  const auto app = tree.selected();
  const std::string kernel = "CMakeFiles/app.dir/kernel.cpp.o";
  const std::string plain = "CMakeFiles/app.dir/plain.cpp.o";
  const PendingBuild cold = pending_build(tree, app);
  EXPECT_EQ(cold.objects.size(), 2U);
  EXPECT_FALSE(cold.more);
  EXPECT_TRUE(may_hold_kernels(tree, cold.objects, true));
  EXPECT_FALSE(may_hold_kernels(tree, cold.objects, false));
  tree.build(app);
  EXPECT_TRUE(pending_build(tree, app).objects.empty());
  EXPECT_TRUE(may_hold_kernels(tree, {plain, kernel}, false));
  EXPECT_FALSE(may_hold_kernels(tree, {plain}, true));
  write_file(root / "plain.cpp", "int plain = 2;\n");
  EXPECT_EQ(pending_build(tree, app).objects, std::vector<std::string>{plain});
  write_file(root / "teeny" / "lang" / "tile.hpp", "#pragma once\n// changed\n");
  EXPECT_EQ(pending_build(tree, app).objects.size(), 2U);
}

TEST(Project, BuildsInSuperBuildsAndWithWordsForCMake) {
  const TemporaryDirectory directory(awkward);
  const fs::path& root = directory.path();
  make_project(root, "add_subdirectory(second)\n");
  fs::create_directories(root / "second");
  write_file(root / "second" / "CMakeLists.txt",
             "project(second LANGUAGES CXX)\nadd_executable(other other.cpp)\n"
             "target_compile_definitions(other PRIVATE WORD=\"${WORD}\")\n");
  write_file(root / "second" / "other.cpp", "#include <cstdio>\nint main() { std::puts(WORD); }\n");
  write_file(root / "CMakePresets.json",
             R"({"version": 6, "configurePresets": [{"name": "mine", "binaryDir": "elsewhere",
                 "cacheVariables": {"WORD": "from the preset"}}]})");
  Selection selection;
  selection.package = "second";
  selection.extra = {"--preset", "mine"};
  BuildTree tree(root, std::nullopt, selection);
  tree.configure();
  ASSERT_EQ(tree.selected().size(), 1U);
  EXPECT_EQ(tree.selected()[0].name, "other");
  EXPECT_EQ(build_and_run(root, selection), "from the preset\n");
  // What is said later wins; the preset's own build directory is left alone.
  selection.extra.emplace_back("-DWORD=said");
  EXPECT_EQ(build_and_run(root, selection), "said\n");
  EXPECT_FALSE(fs::exists(root / "elsewhere"));
  // A project() inside stands for itself when one is in its directory.
  EXPECT_EQ(find_project_root(root / "second"), root / "second");
  Selection debug = of_bin("app");
  debug.no_release = true;
  BuildTree slow(root, std::nullopt, debug);
  EXPECT_NE(slow.directory(), BuildTree(root, std::nullopt, of_bin("app")).directory());
  slow.configure();
  EXPECT_EQ(slow.codemodel().cache.at("CMAKE_BUILD_TYPE"), "Debug");
}

TEST(SourceUnits, OnlyTheUsersOwn) {
  const TemporaryDirectory directory(awkward);
  const fs::path root = fs::canonical(directory.path());
  make_project(root);
  BuildTree tree(root, std::nullopt, {});
  tree.configure();
  EXPECT_EQ(own_sources(tree, {}),
            (std::vector<fs::path>{root / "app.cpp", root / "examples" / "deep" / "small.cpp"}));
  BuildTree one(root, std::nullopt, of_bin("app"));
  one.configure();
  EXPECT_EQ(own_sources(one, one.selected()), std::vector<fs::path>{root / "app.cpp"});
  EXPECT_TRUE(is_own_file(root, root / "a" / "b.hpp"));
  EXPECT_FALSE(is_own_file(root, root / "build" / "teeny" / "host-release" / "x.cpp"));
  EXPECT_FALSE(is_own_file(root, root.string() + "x/b.hpp"));
  TargetInfo target;
  target.name = "app";
  EXPECT_TRUE(is_object_of("sub/CMakeFiles/app.dir/a.cpp.o", target));
  EXPECT_FALSE(is_object_of("CMakeFiles/big-app.dir/a.cpp.o", target));
  EXPECT_FALSE(is_of_teeny(target));
  target.sources = {"app.cpp", (share_directory() / "src/base/error.cpp").string()};
  EXPECT_TRUE(is_of_teeny(target));
}

TEST(Tidy, FindingsWithTheLinesThatBelongToThem) {
  const auto findings = parse_tidy_output(
      "/a b/x.cpp:3:7: warning: unused variable [clang-diagnostic-unused-variable]\n    3 | int "
      "x;\n      |     ^\n/a b/x.cpp:1:1: note: declared here\n"
      "/a b/../y.hpp:10:2: error: no such thing: here [clang-diagnostic-error]\n");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].file, "/a b/x.cpp");
  EXPECT_FALSE(findings[0].error);
  EXPECT_NE(findings[0].text.find("declared here"), std::string::npos);
  EXPECT_EQ(findings[1].file, "/y.hpp");
  EXPECT_TRUE(findings[1].error);
  EXPECT_TRUE(parse_tidy_output("3 warnings generated.\n").empty());
}
