#include "teeny/base/files.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using std::chrono::milliseconds;

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

std::size_t entries(const fs::path& directory) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(Files, ReadAndWrite) {
  const TemporaryDirectory directory;
  // A path may hold any bytes.
  const fs::path path = directory.path() / "a b'\"$\xc3\xa9\xff\n";
  std::string bytes(100'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i);
  write_file(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_file(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(entries(directory.path()), 1U);
  EXPECT_FALSE(read_file("/proc/self/status").empty());
}

TEST(Files, AbsentIsNotUnreadable) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_file_if_exists(directory.path() / "none"), std::nullopt);
  write_file(directory.path() / "f", "x");
  EXPECT_EQ(read_file_if_exists(directory.path() / "f"), "x");
  EXPECT_EQ(read_file_if_exists(directory.path() / "f" / "below"), std::nullopt);
  EXPECT_THROW(static_cast<void>(read_file_if_exists(directory.path())), Error);
  try {
    static_cast<void>(read_file(directory.path() / "none"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_EQ(error.message(), "cannot read " + (directory.path() / "none").string() +
                                   ": No such file or directory");
  }
}

TEST(Files, ModeIsExactWhateverTheUmask) {
  const TemporaryDirectory directory;
  for (const mode_t mask : {0000U, 0022U, 0077U, 0777U}) {
    const mode_t before = ::umask(mask);
    for (const unsigned mode : {0644U, 0755U, 0600U, 0444U}) {
      write_file(directory.path() / "f", "x", mode);
      EXPECT_EQ(mode_of(directory.path() / "f"), mode);
    }
    ::umask(before);
  }
}

TEST(Files, FailureLeavesTheOldFileAndNoOther) {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "d");
  write_file(directory.path() / "d" / "inside", "x");
  // A directory with something in it cannot be renamed over.
  EXPECT_THROW(write_file(directory.path() / "d", "x"), Error);
  EXPECT_EQ(entries(directory.path()), 1U);
  EXPECT_THROW(write_file(directory.path() / "absent" / "f", "x"), Error);
}

TEST(Files, ReadersSeeOneWholeFile) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "f";
  write_file(path, std::string(50'000, 'a'));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) write_file(path, std::string(50'000, i % 2 == 0 ? 'b' : 'a'));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = read_file(path);
    ASSERT_EQ(bytes.size(), 50'000U);
    ASSERT_EQ(bytes.find_first_not_of(bytes.front()), std::string::npos);
  }
  stop = true;
  writer.join();
}

TEST(TemporaryDirectory, PrivateAndGoneAfterwards) {
  fs::path path;
  {
    const TemporaryDirectory directory("some prefix");
    path = directory.path();
    EXPECT_TRUE(path.is_absolute());
    EXPECT_EQ(mode_of(path), 0700U);
    EXPECT_EQ(path.filename().string().rfind("some prefix-", 0), 0U);
    fs::create_directories(path / "a" / "b");
    write_file(path / "a" / "b" / "f", "x");
    fs::create_symlink("/", path / "a" / "link");
    fs::permissions(path / "a" / "b", fs::perms::owner_read);
    fs::permissions(path / "a", fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(path)));
}

TEST(TemporaryDirectory, UnderAParent) {
  const TemporaryDirectory outer;
  const TemporaryDirectory inner("x", outer.path());
  EXPECT_EQ(inner.path().parent_path(), outer.path());
  EXPECT_THROW(TemporaryDirectory("x", outer.path() / "absent"), Error);
}

TEST(FileLock, ExcludesAndNamesItsOwner) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  {
    const FileLock lock(path, milliseconds{0});
    const auto start = std::chrono::steady_clock::now();
    try {
      const FileLock second(path, milliseconds{60});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::environment);
      char host[256] = {};
      ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
      EXPECT_NE(error.message().find("process " + std::to_string(::getpid()) + " on " + host),
                std::string::npos)
          << error.what();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{60});
  }
  const FileLock again(path, milliseconds{0});
}

TEST(FileLock, ADeadOwnersLockIsFree) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
    ::flock(file, LOCK_EX);
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THROW(FileLock(path, milliseconds{10}), Error);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  const FileLock lock(path, milliseconds{0});
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, OneAtATimeAmongThreads) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const FileLock lock(path, std::chrono::seconds{60});
        EXPECT_EQ(++inside, 1);
        --inside;
        // Whoever clears the directory must not let two in.
        if (i % 5 == 0) fs::remove(path);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Files, ExecutablePath) {
  const auto path = executable_path();
  EXPECT_TRUE(path.is_absolute());
  EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace teeny
