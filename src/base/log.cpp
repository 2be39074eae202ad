#include "teeny/base/log.hpp"

#include <atomic>
#include <cerrno>
#include <string>

#include <unistd.h>

namespace teeny {

namespace {
std::atomic<int> limit_value{static_cast<int>(LogLevel::notice)};
}

void log(LogLevel level, std::string_view line) {
  if (static_cast<int>(level) > limit_value.load(std::memory_order_relaxed)) return;
  std::string text = "teeny: ";
  text.append(line);
  text.push_back('\n');
  // One write keeps lines of several threads and processes whole; a log that cannot be written is
  // no reason to stop the program.
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void set_log_level(LogLevel limit) noexcept {
  limit_value.store(static_cast<int>(limit), std::memory_order_relaxed);
}

LogLevel log_level() noexcept {
  return static_cast<LogLevel>(limit_value.load(std::memory_order_relaxed));
}

}  // namespace teeny
