#include "tool/project/new_project.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tool/boards/board_file.hpp"
#include "tool/project/project.hpp"
#include "tool/project/project_file.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

int refused(const std::string& name) {
  try {
    check_project_name(name);
  } catch (const Error& error) {
    return error.exit_code();
  }
  return 0;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST(NewProject, TakesNamesThatCMakeTakes) {
  for (const char* name : {"demo", "my-app", "App_2", "2.x+y"}) EXPECT_EQ(refused(name), 0) << name;
  for (const char* name : {"", "a b", "a::b", "é", "-x", ".x", "a/b", "all", "test", "install",
                           "teeny", "teeny_base", "a;b", "a\"b", "$x"}) {
    EXPECT_EQ(refused(name), 2) << name;
  }
}

TEST(NewProject, WritesAProjectWhole) {
  const TemporaryDirectory place("a new é");
  const fs::path directory = place.path() / "de mo";
  write_new_project({"demo", directory, "jetson-orin-nano", find_board("jetson-orin-nano")});
  EXPECT_EQ(names_in(directory), (std::vector<std::string>{".gitignore", "CMakeLists.txt",
                                                           "README.md", "main.cpp", "teeny.toml"}));
  EXPECT_EQ(names_in(place.path()), std::vector<std::string>{"de mo"});
  EXPECT_EQ(find_project_root(directory), directory);
  for (const auto& name : names_in(directory)) {
    const std::string text = read_file(directory / name);
    for (const char* mark : {"@NAME@", "@TARGET", "@DEVICES@", "@VERSION@"}) {
      EXPECT_EQ(text.find(mark), std::string::npos) << name;
    }
  }
  const auto file = read_project_file(directory);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->package.target, "jetson-orin-nano");
  EXPECT_EQ(file->package.devices.size(), 2U);
  EXPECT_EQ(file->package.bins, std::vector<std::string>{"demo"});
}

TEST(NewProject, WithoutABoardNamesNone) {
  const TemporaryDirectory place("new");
  fs::create_directories(place.path() / "empty");
  write_new_project({"demo", place.path() / "empty", "", {}});
  EXPECT_EQ(read_project_file(place.path() / "empty")->package.target, std::nullopt);
  write_new_project(
      {"demo", place.path() / "arm", "generic-aarch64", find_board("generic-aarch64")});
  EXPECT_EQ(read_project_file(place.path() / "arm")->package.devices.size(), 1U);
}

TEST(NewProject, RefusesADirectoryThatIsNotEmpty) {
  const TemporaryDirectory place("new");
  write_file(place.path() / "mine", "x");
  try {
    write_new_project({"demo", place.path(), "", {}});
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(error.message().find("not empty"), std::string::npos);
  }
  EXPECT_THROW(write_new_project({"demo", place.path() / "mine", "", {}}), Error);
  EXPECT_EQ(names_in(place.path()), std::vector<std::string>{"mine"});
}
