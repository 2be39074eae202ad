#include "tool/transport/connection_directory.hpp"

#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cache/fake_compiler.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

void make_old(const fs::path& path) {
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, AT_SYMLINK_NOFOLLOW), 0);
}

// What is left by one that is killed while it has its directory; `path` is that.
fs::path of_a_killed_owner() {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ConnectionDirectory directory;
    const std::string path = directory.path().string();
    if (::write(pipe[1], path.data(), path.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  std::string path(4096, '\0');
  const auto count = ::read(pipe[0], path.data(), path.size());
  path.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  return path;
}

class Sweep : public testing::Test {
 protected:
  TemporaryDirectory root_;
  test::Variable place_{"TMPDIR", root_.path().string()};
};

}  // namespace

TEST_F(Sweep, TheNextOneRemovesWhatAKilledOneLeft) {
  const fs::path left = of_a_killed_owner();
  ASSERT_TRUE(fs::exists(left / "owner"));
  {
    const ConnectionDirectory next;
  }
  EXPECT_TRUE(fs::exists(left)) << "it may only be starting";
  make_old(left);
  fs::path own;
  {
    const ConnectionDirectory next;
    own = next.path();
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(own));
  }
  EXPECT_FALSE(fs::exists(own));
}

TEST_F(Sweep, ALiveOnesIsNeverRemoved) {
  const ConnectionDirectory live;
  make_old(live.path());
  {
    const ConnectionDirectory next;
  }
  EXPECT_TRUE(fs::exists(live.path() / "owner"));
  EXPECT_EQ(sweep_connection_directories(root_.path(), std::chrono::seconds(0)), 0U);
  EXPECT_TRUE(fs::exists(live.path()));
}

TEST_F(Sweep, TouchesNothingElse) {
  const fs::path file = root_.path() / "teeny-ssh--file";
  const fs::path other = root_.path() / "teeny-other";
  const fs::path target = root_.path() / "target";
  const fs::path link = root_.path() / "teeny-ssh--link";
  write_file(file, "");
  fs::create_directory(other);
  fs::create_directory(target);
  fs::create_directory_symlink(target, link);
  const fs::path unlocked = root_.path() / "teeny-ssh--unlocked";
  fs::create_directory(unlocked);
  for (const auto& path : {file, other, target, link, unlocked}) make_old(path);
  EXPECT_EQ(sweep_connection_directories(root_.path(), std::chrono::seconds(60)), 1U);
  EXPECT_FALSE(fs::exists(unlocked));
  for (const auto& path : {file, other, target}) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_TRUE(fs::is_symlink(link));
}
