#include "runtime/cpu/thread_pool.hpp"

#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teeny::detail {
namespace {

TEST(ThreadPool, CoversEachNumberOnce) {
  ThreadPool pool(4);
  EXPECT_EQ(pool.size(), 4);
  for (const std::uint64_t count : {0u, 1u, 2u, 3u, 7u, 100u, 12345u}) {
    const auto seen = std::make_unique<std::atomic<int>[]>(count + 1);
    std::atomic<int> wrong_worker{0};
    pool.run(count, [&](std::uint64_t begin, std::uint64_t end, int worker) {
      if (worker < 0 || worker >= 4) ++wrong_worker;
      for (std::uint64_t i = begin; i < end; ++i) ++seen[i];
    });
    EXPECT_EQ(wrong_worker, 0);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << i << " of " << count;
  }
}

TEST(ThreadPool, ManyShortRunsAndSeveralCallers) {
  ThreadPool pool(3);
  std::atomic<std::uint64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        pool.run(5, [&](std::uint64_t begin, std::uint64_t end, int) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 3u * 2000 * 5);
}

TEST(ThreadPool, NoTwoThreadsShareAWorkersNumber) {
  ThreadPool pool(4);
  std::atomic<int> inside[4] = {};
  std::atomic<bool> shared{false};
  pool.run(1000, [&](std::uint64_t, std::uint64_t, int worker) {
    if (++inside[worker] != 1) shared = true;
    --inside[worker];
  });
  EXPECT_FALSE(shared);
}

TEST(ThreadPool, AForkedChildWorksAlone) {
  ThreadPool pool(4);
  pool.run(100, [](std::uint64_t, std::uint64_t, int) {});
  const int child = ::fork();
  if (child == 0) {
    std::uint64_t total = 0;
    pool.run(100, [&](std::uint64_t begin, std::uint64_t end, int) { total += end - begin; });
    ::_exit(total == 100 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace teeny::detail
