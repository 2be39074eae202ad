#include "tool/project/toolchain.hpp"

#include <gtest/gtest.h>

#include "tests/tool/board_tree.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/package/elf_check.hpp"
#include "tool/project/cuda_directory.hpp"
#include "tool/project/project.hpp"
#include "tool/sysroot/sysroot.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

Error refusal(const Board& board, const fs::path& project, const std::string& sysroot = {},
              const std::string& cuda = {}) {
  try {
    static_cast<void>(choose_toolchain(board, project, {sysroot, cuda, false}));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "");
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace

// P30: the distribution's cross compiler links a newer C library than JetPack 5 has, and takes an
// older one's place without a word.
TEST(Pains, P30_ABoardWithAnOlderCLibraryWantsASysroot) {
  if (!find_program("aarch64-linux-gnu-g++")) GTEST_SKIP() << "no cross compiler: run ./setup";
  const TemporaryDirectory project("project é");
  const Error error = refusal(find_board("jetson-xavier-nx"), project.path());
  EXPECT_EQ(error.exit_code(), 1);
  expect_part(error.message(), "jetson-xavier-nx@5.1 has glibc 2.31");
  expect_part(error.message(), "wants at least 2.34");
  expect_part(error.next(), "teeny sysroot --host aarch64-linux-gnu --type jetson-xavier-nx@5.1");
  EXPECT_EQ(choose_toolchain(find_board("jetson-orin-nano"), project.path()).kind,
            Toolchain::Kind::cross_gcc);
  EXPECT_EQ(choose_toolchain(find_board("h200-server"), project.path()).kind,
            Toolchain::Kind::native);
}

TEST(Toolchain, TakesOnlyAFinishedSysrootOfTheBoard) {
  const TemporaryDirectory project("project é");
  const Board xavier = find_board("jetson-xavier-nx");
  const fs::path usual = default_sysroot(project.path(), xavier);
  EXPECT_EQ(usual, project.path() / "build/sysroot/jetson-xavier-nx@5.1");
  static_cast<void>(make_sysroot({xavier, usual, {}, "ssh", {}}));
  expect_part(refusal(xavier, project.path()).message(), "has nothing in it yet");
  SysrootMarker marker{
      "aarch64-linux-gnu", xavier.full_name(), "board", "now", {}, "2.31", "3.4.28",
      "R35.4.1",           "clang++-19"};
  write_file(usual / SysrootMarker::path, marker.to_json());
  const Toolchain chosen = choose_toolchain(xavier, project.path());
  EXPECT_EQ(chosen.kind, Toolchain::Kind::clang);
  EXPECT_EQ(chosen.sysroot, usual);
  // The same for a board that could do without, when it is named.
  const Board orin = find_board("jetson-orin-nano");
  EXPECT_EQ(choose_toolchain(orin, project.path()).kind, Toolchain::Kind::cross_gcc);
  EXPECT_EQ(choose_toolchain(orin, project.path(), {usual.string() + "/", "", false}).sysroot,
            usual);
  write_file(usual / SysrootMarker::unfinished_path, "board\n");
  expect_part(refusal(xavier, project.path()).message(), "was begun and not ended");
  fs::remove(usual / SysrootMarker::unfinished_path);
  marker.triple = "x86_64-linux-gnu";
  write_file(usual / SysrootMarker::path, marker.to_json());
  expect_part(refusal(xavier, project.path()).message(), "is of x86_64-linux-gnu");
  const Error none = refusal(xavier, project.path(), project.path().string());
  expect_part(none.message(), "there is no sysroot that teeny made");
  expect_part(none.next(), "teeny sysroot");
}

// P34: a toolkit has one folder for Jetsons and one for servers until CUDA 12, one for both since.
TEST(Pains, P34_TheBoardsFileSaysWhichCudaFolder) {
  const TemporaryDirectory directory("cuda 'é $");
  const fs::path toolkit = directory.path();
  const auto add = [&toolkit](const char* name) {
    fs::create_directories(toolkit / "targets" / name / "include");
  };
  const Board six = find_board("jetson-orin-nano@6.2");
  const Board seven = find_board("jetson-orin-nano@7.2");
  const auto chosen = [&toolkit](const Board& board) {
    return find_cuda_directory(board, toolkit.string()).value_or("none").filename().string();
  };
  const auto refused = [&](const Board& board) -> std::string {
    try {
      static_cast<void>(find_cuda_directory(board, toolkit.string()));
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "accepted";
    return "";
  };
  expect_part(refused(six), "found no folder of CUDA's");
  add("sbsa-linux");
  EXPECT_EQ(chosen(seven), "sbsa-linux");
  const std::string wrong = refused(six);
  expect_part(wrong, "wanted targets/aarch64-linux for jetson-orin-nano@6.2, found sbsa-linux");
  expect_part(wrong, "aarch64-linux is for Jetsons until CUDA 12");
  add("aarch64-linux");
  testing::internal::CaptureStderr();
  EXPECT_EQ(chosen(six), "aarch64-linux");
  const std::string told = testing::internal::GetCapturedStderr();
  expect_part(told, "by the board's file, and not sbsa-linux beside it");
  EXPECT_EQ(chosen(seven), "sbsa-linux");
  // The user's own word for the folder goes first, and what is odd about it is said.
  testing::internal::CaptureStderr();
  EXPECT_EQ(find_cuda_directory(six, (toolkit / "targets/sbsa-linux").string()),
            toolkit / "targets/sbsa-linux");
  expect_part(testing::internal::GetCapturedStderr(), "wants aarch64-linux");
  // Without a word of the user's a toolkit is taken when it has the folder, and missed by nobody.
  EXPECT_EQ(find_cuda_directory(six, "", toolkit), toolkit / "targets/aarch64-linux");
  fs::remove_all(toolkit / "targets/aarch64-linux");
  EXPECT_FALSE(find_cuda_directory(six, "", toolkit));
  EXPECT_THROW(static_cast<void>(find_cuda_directory(find_board("generic-aarch64"), "x")), Error);
}

// P35: a program that links the CUDA driver is linked against what the board, or a toolkit, has in
// its place, and finds the real one on the board.
TEST(Pains, P35_AProgramThatLinksTheDriverNeedsItAndNoPath) {
  if (const auto why = BoardTree::why_not(); !why.empty()) GTEST_SKIP() << why;
  const BoardTree board(BoardTree::Layout::multiarch);
  const fs::path stubs = board.at("/usr/local/cuda-12.6/targets/aarch64-linux/lib/stubs");
  fs::create_directories(stubs);
  board.link("cuda-12.6", "/usr/local/cuda");
  const TemporaryDirectory directory("project é");
  const fs::path source = directory.path() / "stub.c";
  write_file(source, "int cuInit(unsigned flags) { return (int)flags; }\n");
  ASSERT_EQ(
      run({{"aarch64-linux-gnu-gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libcuda.so.1",
            source.string(), "-o", (stubs / "libcuda.so").string()}})
          .exit_code,
      0);
  const fs::path root = directory.path() / "root";
  const FakeSsh ssh = board.ssh();
  const Board orin = find_board("jetson-orin-nano@6.2");
  static_cast<void>(make_sysroot({orin, root, "board", ssh.command(), {}}));
  ASSERT_TRUE(fs::exists(root / "usr/local/cuda/targets/aarch64-linux/lib/stubs/libcuda.so"));
  write_file(directory.path() / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES CXX)\n"
             "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE cuda)\n");
  write_file(directory.path() / "app.cpp",
             "extern \"C\" int cuInit(unsigned);\nint main() { return cuInit(0); }\n");
  Selection selection;
  selection.bins = {"app"};
  selection.sysroot = root.string();
  BuildTree tree(directory.path(), orin, selection);
  tree.configure();
  const auto targets = tree.selected();
  tree.build(targets);
  const ElfInfo elf = read_elf_file(tree.artifact(targets.at(0)));
  EXPECT_EQ(elf.machine, elf_aarch64);
  EXPECT_EQ(std::count(elf.needed.begin(), elf.needed.end(), "libcuda.so.1"), 1);
  EXPECT_TRUE(elf.run_paths.empty());
  for (const auto& finding : check_elf(elf, "bin/app", orin, {})) ADD_FAILURE() << finding.text;
}
