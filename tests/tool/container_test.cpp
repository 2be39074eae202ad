#include "tool/container/container.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tool/boards/board_file.hpp"
#include "tool/package/elf.hpp"
#include "tool/project/project.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

/// A podman of our own, first on PATH: it keeps its arguments, a call after another, and runs what
/// stands behind the image on this machine.
class FakePodman {
 public:
  FakePodman() : path_(std::getenv("PATH")) {
    write_file(directory_.path() / "podman",
               "#!/bin/sh\nprintf '%s\\n' \"$@\" END >> \"${0%/*}/calls\"\n"
               "[ \"$1\" = run ] || exit 0\n"
               "while [ \"$1\" != " +
                   toolchain_image() + " ]; do shift; done\nshift\nexec \"$@\"\n",
               0755);
    ::setenv("PATH", (directory_.path().string() + ":" + path_).c_str(), 1);
  }
  ~FakePodman() { ::setenv("PATH", path_.c_str(), 1); }
  FakePodman(const FakePodman&) = delete;
  FakePodman& operator=(const FakePodman&) = delete;

  [[nodiscard]] std::string calls() const { return read_file(directory_.path() / "calls"); }

 private:
  std::string path_;
  TemporaryDirectory directory_{"podman"};
};

std::string mount(const fs::path& path, const char* rights = ",readonly") {
  return "type=bind,source=" + path.string() + ",target=" + path.string() + rights;
}

}  // namespace

TEST(Container, KnowsEachDirectoryOnceAndUnderItsOwnPath) {
  const FakePodman podman;
  const TemporaryDirectory directory("con tainer 'é $:");
  const fs::path project = directory.path() / "project";
  fs::create_directories(project / "src");
  fs::create_directories(directory.path() / "a,b");
  Container container("any");
  EXPECT_EQ(container.engine(), "podman");
  container.add(project, true);
  container.add(project / "src");
  container.add(directory.path() / "gone");
  EXPECT_THROW(container.add(directory.path() / "a,b"), Error);
  const std::vector<std::string> wanted = {"podman",
                                           "run",
                                           "--rm",
                                           "--init",
                                           "--network",
                                           "none",
                                           "--mount",
                                           mount(project, ""),
                                           "--workdir",
                                           project.string(),
                                           toolchain_image(),
                                           "c++",
                                           "two words"};
  EXPECT_EQ(container.wrap({"c++", "two words"}, project), wanted);
  EXPECT_THROW(Container("rkt"), Error);
}

TEST(Container, DependenciesAreWhatLiesOutsideAndInNoImage) {
  Codemodel model;
  model.input_files = {"/home/u/libs/lib/cmake/geo/geoConfig.cmake", "/usr/lib/cmake/x/x.cmake",
                       "/home/u/other/CMakeLists.txt", "/home/u/project/cmake/own.cmake"};
  model.include_directories = {"/usr/include/x", "/usr/local/include", "/home/u/project/include",
                               "/home/u/headers"};
  EXPECT_EQ(local_dependencies(model, "/home/u/project"),
            (std::vector<fs::path>{"/home/u/headers", "/home/u/libs", "/home/u/other",
                                   "/usr/local/include"}));
}

TEST(Container, BuildsAProjectWithWhatItTakesFromElsewhere) {
  if (!find_program("aarch64-linux-gnu-g++")) GTEST_SKIP() << "no cross compiler: run ./setup";
  const FakePodman podman;
  const TemporaryDirectory directory("pro jects é", "/tmp");  // not below the build, which is known
  const fs::path top = fs::canonical(directory.path());
  const fs::path project = top / "project";
  const fs::path part = top / "part of it";
  const fs::path headers = top / "headers";
  write_file((fs::create_directories(project), project / "CMakeLists.txt"),
             "cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES CXX)\n"
             "add_subdirectory(\"../part of it\" part)\nadd_executable(app app.cpp)\n"
             "target_link_libraries(app PRIVATE part)\n"
             "target_include_directories(app PRIVATE ../headers)\n");
  write_file(project / "app.cpp",
             "#include \"h.h\"\nint part();\nint main() { return part() + H; }\n");
  write_file((fs::create_directories(part), part / "CMakeLists.txt"),
             "add_library(part STATIC part.cpp)\n");
  write_file(part / "part.cpp", "int part() { return 1; }\n");
  write_file((fs::create_directories(headers), headers / "h.h"), "#define H 1\n");
  Selection selection;
  selection.bins = {"app"};
  selection.container = "podman";
  BuildTree tree(project, find_board("generic-aarch64"), selection);
  tree.configure();
  const auto targets = tree.selected();
  tree.build(targets);
  EXPECT_EQ(read_elf_file(tree.artifact(targets.at(0))).machine, elf_aarch64);
  EXPECT_NE(tree.directory().string().find("generic-aarch64-container"), std::string::npos);
  const std::string calls = podman.calls();
  EXPECT_EQ(calls.rfind("image\ninspect\n" + toolchain_image() + "\nEND\n", 0), 0U) << calls;
  for (const auto& word : {mount(project, ""), mount(part), mount(headers)}) {
    EXPECT_NE(calls.find("--mount\n" + word + "\n"), std::string::npos) << word << "\n" << calls;
  }
  EXPECT_NE(calls.find(toolchain_image() + "\ncmake\n-S\n" + project.string()), std::string::npos);
  EXPECT_NE(calls.find(toolchain_image() + "\ncmake\n--build\n"), std::string::npos);
}
