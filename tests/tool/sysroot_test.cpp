#include "tool/sysroot/sysroot.hpp"

#include <gtest/gtest.h>

#include "tests/tool/board_tree.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/package/findings.hpp"
#include "tool/sysroot/links.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

SysrootRequest request_for(const fs::path& path, const FakeSsh* ssh) {
  SysrootRequest request{find_board("jetson-orin-nano@7.2"), path, {}, "ssh", {}};
  if (ssh != nullptr) {
    request.from = "board";
    request.ssh = ssh->command();
  }
  return request;
}

Error refusal(const SysrootRequest& request) {
  try {
    static_cast<void>(make_sysroot(request));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "");
}

// Every link ends in the root, but for those that dangle.
void expect_closed(const fs::path& root) {
  const std::string inside = fs::canonical(root).string() + "/";
  int links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_symlink()) continue;
    ++links;
    EXPECT_FALSE(fs::read_symlink(entry.path()).is_absolute()) << entry.path();
    const std::string real = fs::weakly_canonical(entry.path()).string();
    EXPECT_EQ(real.rfind(inside, 0), 0U) << entry.path() << " -> " << real;
  }
  EXPECT_GT(links, 5);
}

}  // namespace

TEST(Pains, P32_LinksOfASysrootStayInsideIt) {
  const TemporaryDirectory directory("links 'é $");
  const fs::path root = directory.path() / "root";
  fs::create_directories(root / "usr/lib/a");
  fs::create_directories(root / "etc");
  write_file(root / "usr/lib/a/libm.so.6", "m");
  const auto link = [&root](const char* target, const char* name) {
    fs::create_symlink(target, root / name);
  };
  link("usr/lib", "lib");
  link("/lib/a/libm.so.6", "usr/lib/a/libm.so");
  link("/etc/m", "usr/lib/libm.so");
  link("/usr/lib/a/../a/libm.so.6", "etc/m");
  link("../../../../../usr/lib/a/libm.so.6", "usr/lib/out.so");
  link("/usr/lib/gone.so.1", "usr/lib/gone.so");
  link("a/libm.so.6", "usr/lib/near.so");
  link("loop2", "etc/loop1");
  link("loop1", "etc/loop2");
  const LinkReport report = mend_links(root);
  EXPECT_EQ(report.links, 9U);
  EXPECT_EQ(report.mended, 5U);
  EXPECT_EQ(report.outside,
            std::vector<std::string>{"usr/lib/out.so -> ../../../../../usr/lib/a/libm.so.6"});
  EXPECT_EQ(report.dangling, (std::vector<std::string>{"etc/loop1 -> loop2", "etc/loop2 -> loop1",
                                                       "usr/lib/gone.so -> /usr/lib/gone.so.1"}));
  EXPECT_EQ(fs::read_symlink(root / "lib"), "usr/lib");
  EXPECT_EQ(fs::read_symlink(root / "usr/lib/near.so"), "a/libm.so.6");
  EXPECT_EQ(fs::read_symlink(root / "usr/lib/libm.so"), "../../etc/m");
  EXPECT_EQ(fs::read_symlink(root / "usr/lib/a/libm.so"), "../../../lib/a/libm.so.6");
  // Wherever the tree goes.
  fs::rename(root, directory.path() / "elsewhere");
  for (const char* name : {"usr/lib/a/libm.so", "usr/lib/libm.so", "usr/lib/out.so", "etc/m"}) {
    EXPECT_EQ(read_file(directory.path() / "elsewhere" / name), "m") << name;
  }
  EXPECT_EQ(mend_links(directory.path() / "elsewhere").mended, 0U);
}

TEST(Pains, P32_ACopiedSysrootLinksProgramsAndKeepsAMergedUsr) {
  if (const auto why = BoardTree::why_not(); !why.empty()) GTEST_SKIP() << why;
  const BoardTree board(BoardTree::Layout::multiarch);
  const FakeSsh ssh = board.ssh();
  const TemporaryDirectory directory("sysroot 'é $");
  const fs::path root = directory.path() / "root";
  const auto result = make_sysroot(request_for(root, &ssh));
  EXPECT_EQ(fs::read_symlink(root / "lib"), "usr/lib");
  EXPECT_GE(result.links.mended, 5U);
  EXPECT_EQ(result.links.outside.size(), 1U);
  expect_closed(root);
  const auto found = look_at_sysroot(root);
  ASSERT_EQ(found.state, SysrootState::finished);
  EXPECT_EQ(found.marker->source, "board");
  EXPECT_EQ(found.marker->glibc, "2.36");
  EXPECT_EQ(found.marker->glibcxx, "3.4.30");
  EXPECT_EQ(found.marker->l4t, "R35.4.1");
  EXPECT_EQ(found.marker->folders, (std::vector<std::string>{"/etc/alternatives", "/usr/include",
                                                             "/usr/lib/aarch64-linux-gnu",
                                                             "/usr/lib/gcc/aarch64-linux-gnu"}));
  EXPECT_NE(found.marker->compiler.find("clang"), std::string::npos);
  EXPECT_EQ(SysrootMarker::parse(found.marker->to_json(), "x").to_json(), found.marker->to_json());
}

TEST(Pains, P33_AFlatBoardGivesASysrootToo) {
  if (const auto why = BoardTree::why_not(); !why.empty()) GTEST_SKIP() << why;
  const BoardTree board(BoardTree::Layout::flat);
  const FakeSsh ssh = board.ssh();
  const TemporaryDirectory directory("flat");
  const fs::path root = directory.path() / "root";
  const auto result = make_sysroot(request_for(root, &ssh));
  EXPECT_EQ(result.marker.glibc, "2.36");
  EXPECT_EQ(result.marker.glibcxx, "3.4.30");
  EXPECT_TRUE(fs::exists(root / "usr/lib/libc.so.6"));
  EXPECT_FALSE(fs::exists(root / "usr/lib/firmware/large"));
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::finished);
  expect_closed(root);
}

TEST(Sysroot, AnInterruptedCopyNeverLooksFinishedAndIsGoneOnWith) {
  if (const auto why = BoardTree::why_not(); !why.empty()) GTEST_SKIP() << why;
  const BoardTree board(BoardTree::Layout::multiarch);
  const FakeSsh good = board.ssh();
  const FakeSsh cut = board.ssh(true);
  const TemporaryDirectory directory("cut");
  const fs::path root = directory.path() / "root";
  const Error error = refusal(request_for(root, &cut));
  EXPECT_EQ(error.exit_code(), finding_code::unreachable) << error.what();
  EXPECT_TRUE(fs::exists(root / "usr/include"));
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::unfinished);
  const Error without = refusal(request_for(root, nullptr));
  EXPECT_EQ(without.exit_code(), 2);
  EXPECT_NE(without.message().find("a copy from board was begun"), std::string::npos);
  static_cast<void>(make_sysroot(request_for(root, &good)));
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::finished);
  // A finished one is none while it is copied again.
  EXPECT_EQ(refusal(request_for(root, &cut)).exit_code(), finding_code::unreachable);
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::unfinished);
}

TEST(Sysroot, WithoutABoardThereAreFoldersToFill) {
  const TemporaryDirectory directory("scaffold é");
  const fs::path root = directory.path() / "root";
  const auto result = make_sysroot(request_for(root, nullptr));
  EXPECT_EQ(result.marker.compiler, "");
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::scaffold);
  EXPECT_TRUE(fs::is_directory(root / "usr/lib/aarch64-linux-gnu"));
  EXPECT_EQ(fs::read_symlink(root / "lib"), "usr/lib");
  // What links no program is no sysroot.
  write_file(root / "usr/include/features.h",
             "#define\t__GLIBC__\t2\n#define __GLIBC_MINOR__ 39\n");
  if (!find_program("clang++-19")) GTEST_SKIP() << "no clang";
  const Error error = refusal(request_for(root, nullptr));
  EXPECT_NE(error.message().find("no program can be linked"), std::string::npos);
  EXPECT_NE(error.next().find("libstdc++-N-dev"), std::string::npos) << error.what();
  EXPECT_EQ(look_at_sysroot(root).state, SysrootState::unfinished);
}

TEST(Sysroot, TouchesNothingThatIsSomethingElse) {
  const TemporaryDirectory directory("foreign");
  write_file(directory.path() / "letter", "dear");
  EXPECT_EQ(refusal(request_for(directory.path(), nullptr)).exit_code(), 2);
  const FakeSsh ssh("exit 1");
  EXPECT_EQ(refusal(request_for(directory.path(), &ssh)).exit_code(), 2);
  EXPECT_EQ(refusal(request_for("/", nullptr)).exit_code(), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(Sysroot, RefusesAnotherMachineBeforeItCopies) {
  const TemporaryDirectory directory("machine");
  const FakeSsh ssh(FakeSsh::obedient());
  Board board = find_board("generic-aarch64");
  if (fs::exists("/lib/ld-linux-aarch64.so.1")) GTEST_SKIP() << "this machine is an AArch64 one";
  const fs::path root = directory.path() / "root";
  const Error error = refusal({board, root, "board", ssh.command(), {}});
  EXPECT_NE(error.message().find("wanted a board of aarch64-linux-gnu"), std::string::npos);
  EXPECT_NE(error.message().find("says it is"), std::string::npos) << error.message();
  EXPECT_FALSE(fs::exists(root));
}
