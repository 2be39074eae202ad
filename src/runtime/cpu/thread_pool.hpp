#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace teeny::detail {

/// Threads that share out a range of numbers, in chunks taken as they go. They live as long as the
/// pool and sleep in between.
class ThreadPool {
 public:
  /// `threads` counts the caller of `run`, which works too. 0: the processors this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls work(begin, end, worker) until [0, count) is covered; worker is in [0, size()). `work`
  /// must not throw. One run at a time; other callers wait.
  void run(std::uint64_t count, const std::function<void(std::uint64_t, std::uint64_t, int)>& work);
  [[nodiscard]] int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }

 private:
  using Work = std::function<void(std::uint64_t, std::uint64_t, int)>;
  void serve(int worker);
  void take_chunks(const Work& work, int worker);

  std::mutex one_run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const Work* work_ = nullptr;  // null between runs, and once a run has no more chunks to give
  std::uint64_t generation_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t chunk_ = 1;
  std::atomic<std::uint64_t> next_{0};
  int busy_ = 0;
  bool stop_ = false;
  int owner_;  // the process that started the threads: a forked child has none
  std::vector<std::thread> threads_;
};

/// The processors this process may run on.
[[nodiscard]] int usable_processors() noexcept;

}  // namespace teeny::detail
