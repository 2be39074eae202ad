#include "thread_pool.hpp"

#include <algorithm>

#include <sched.h>
#include <unistd.h>

namespace teeny::detail {

int usable_processors() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) : owner_(::getpid()) {
  const int count = threads > 0 ? threads : usable_processors();
  threads_.reserve(static_cast<std::size_t>(count) - 1);
  for (int worker = 1; worker < count; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  if (::getpid() != owner_) {
    // Copies of handles in a forked child; there is nobody to join.
    for (auto& thread : threads_) thread.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::take_chunks(const Work& work, int worker) {
  for (;;) {
    const std::uint64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= count_) return;
    work(begin, std::min(begin + chunk_, count_), worker);
  }
}

void ThreadPool::serve(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (work_ != nullptr && generation_ != seen); });
    if (stop_) return;
    seen = generation_;
    const Work* work = work_;
    ++busy_;
    lock.unlock();
    take_chunks(*work, worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(std::uint64_t count, const Work& work) {
  if (count == 0) return;
  const std::lock_guard one(one_run_);
  if (count == 1 || threads_.empty() || ::getpid() != owner_) {
    work(0, count, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    // Several chunks a thread even out programs of unequal length.
    chunk_ = std::max<std::uint64_t>(1, count / (static_cast<std::uint64_t>(size()) * 8));
    next_.store(0, std::memory_order_relaxed);
    ++generation_;
  }
  wake_.notify_all();
  take_chunks(work, 0);
  // A thread that has not woken by now finds nothing to do, and is not waited for.
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  done_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace teeny::detail
