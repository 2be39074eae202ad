#include "tool/transport/copy_progress.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tool/fake_ssh.hpp"
#include "tool/transport/transport.hpp"

using namespace teeny::tool;
using std::chrono::milliseconds;

namespace {

// A clock that is set, and what was written.
struct Played {
  CopyProgress::Clock::time_point time{};
  std::vector<std::string> written;

  std::unique_ptr<CopyProgress> progress(std::uint64_t total, bool terminal) {
    return std::make_unique<CopyProgress>(
        total, terminal, [this](std::string_view text) { written.emplace_back(text); },
        [this] { return time; });
  }
};

}  // namespace

TEST(CopyProgress, OnATerminalOneLineIsWrittenAnewAndGoneAtTheEnd) {
  Played played;
  auto progress = played.progress(4096, true);
  for (int i = 1; i <= 1000; ++i) {
    played.time += milliseconds(1);
    progress->at(static_cast<std::uint64_t>(i) * 4);
  }
  ASSERT_EQ(played.written.size(), 10U);
  EXPECT_EQ(played.written.back(), "\rteeny: copied 3.9 KiB of 4.0 KiB (97 %), 3.9 KiB/s\033[K");
  for (const auto& line : played.written) EXPECT_EQ(line.find('\n'), std::string::npos);
  progress.reset();
  EXPECT_EQ(played.written.back(), "\r\033[K");
}

TEST(CopyProgress, ElsewhereAFewLines) {
  Played played;
  auto progress = played.progress(1'000'000, false);
  for (int second = 1; second <= 600; ++second) {
    played.time += milliseconds(1000);
    progress->at(static_cast<std::uint64_t>(second) * 1000);
  }
  progress.reset();
  // After 5, 10, 20, ... 320 seconds.
  ASSERT_EQ(played.written.size(), 7U);
  EXPECT_EQ(played.written.front(), "teeny: copied 4.9 KiB of 977 KiB (0 %), 1000 B/s\n");
  EXPECT_EQ(played.written.back(), "teeny: copied 312 KiB of 977 KiB (32 %), 1000 B/s\n");
}

TEST(CopyProgress, AShortCopySaysNothing) {
  Played played;
  for (const bool terminal : {false, true}) {
    auto progress = played.progress(10, terminal);
    progress->at(5);
    progress->at(10);
  }
  EXPECT_TRUE(played.written.empty());
}

TEST(CopyProgress, ReadsWhatRsyncTells) {
  EXPECT_EQ(rsync_progress("      1234567  45%   10.00MB/s    0:00:01 (xfr#1, to-chk=2/4)"),
            1234567U);
  EXPECT_EQ(rsync_progress("              0   0%    0.00kB/s    0:00:00"), 0U);
  EXPECT_EQ(rsync_progress("Total bytes sent: 12"), std::nullopt);
  EXPECT_EQ(rsync_progress("12 of 100%"), std::nullopt);
  EXPECT_EQ(rsync_progress(""), std::nullopt);
}

TEST(CopyProgress, ATarStreamTellsAllOfItsBytes) {
  const FakeSsh ssh(FakeSsh::obedient());
  const teeny::TemporaryDirectory there;
  const teeny::TemporaryDirectory here;
  teeny::write_file(here.path() / "a", std::string(std::size_t{1} << 20, 'x'));
  const std::vector<teeny::PackagedFile> files = {{"a", 0644, std::uint64_t{1} << 20, ""}};
  std::vector<std::uint64_t> told;
  const Transport transport("board", ssh.command());
  const auto sent = transport.send_tar(here.path(), files, there.path().string(),
                                       [&told](std::uint64_t done) { told.push_back(done); });
  ASSERT_GE(told.size(), 4U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), sent);
}

TEST(CopyProgress, RsyncTellsItsBytesAndItsStatisticsAreStillRead) {
  if (!teeny::find_program("rsync")) GTEST_SKIP() << "no rsync on this machine";
  const FakeSsh ssh(FakeSsh::obedient());
  const teeny::TemporaryDirectory there;
  const teeny::TemporaryDirectory here;
  constexpr std::uint64_t size = std::uint64_t{3} << 20;
  teeny::write_file(here.path() / "a", std::string(size, 'x'));
  std::vector<std::uint64_t> told;
  const Transport transport("board", ssh.command());
  const auto sent = transport.rsync(here.path(), there.path().string(), {},
                                    [&told](std::uint64_t done) { told.push_back(done); });
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), size);
  EXPECT_GT(sent, size);
  EXPECT_EQ(teeny::read_file(there.path() / "a").size(), size);
}
