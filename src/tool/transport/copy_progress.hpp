#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace teeny::tool {

/// Told how many bytes of a copy are done, again and again.
using CopyWatcher = std::function<void(std::uint64_t done)>;

/// Shows how far a copy is: on a terminal one line, written anew at most ten times a second and
/// gone at the end; elsewhere a line after 5 s, and the next ones each after twice that time, so
/// that a log of a long copy is short and one of a short copy has none.
class CopyProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// On standard error, if the log's level is notice or more.
  explicit CopyProgress(std::uint64_t total);
  /// Writes to `write` as it would on a terminal, or not; `now` is asked for the time.
  CopyProgress(std::uint64_t total, bool terminal, std::function<void(std::string_view)> write,
               std::function<Clock::time_point()> now);
  ~CopyProgress();
  CopyProgress(const CopyProgress&) = delete;
  CopyProgress& operator=(const CopyProgress&) = delete;

  void at(std::uint64_t done);
  [[nodiscard]] CopyWatcher watcher() {
    return [this](std::uint64_t done) { at(done); };
  }

 private:
  [[nodiscard]] std::string line(std::uint64_t done, Clock::duration elapsed) const;

  std::uint64_t total_;
  bool terminal_;
  std::function<void(std::string_view)> write_;
  std::function<Clock::time_point()> now_;
  Clock::time_point start_;
  Clock::time_point next_;
  bool shown_ = false;
};

/// The bytes that a line of `rsync --info=progress2 --no-human-readable` tells of; nullopt for any
/// other line.
[[nodiscard]] std::optional<std::uint64_t> rsync_progress(std::string_view line);

}  // namespace teeny::tool
