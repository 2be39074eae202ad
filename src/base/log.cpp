#include "teeny/base/log.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace teeny {

namespace {

constexpr int unset = -1;
std::atomic<int> limit_value{unset};

void write_line(std::string_view line);

// What TEENY_LOG says, read when it is first asked for.
int limit() {
  const int known = limit_value.load(std::memory_order_relaxed);
  if (known != unset) return known;
  const char* variable = std::getenv("TEENY_LOG");
  const std::string_view text = variable != nullptr ? variable : "";
  LogLevel level = LogLevel::notice;
  if (text == "error") level = LogLevel::error;
  if (text == "warning") level = LogLevel::warning;
  if (text == "debug") level = LogLevel::debug;
  int before = unset;
  const bool first = limit_value.compare_exchange_strong(before, static_cast<int>(level));
  if (first && level == LogLevel::notice && !text.empty() && text != "notice") {
    write_line("warning: TEENY_LOG: wanted error, warning, notice or debug, found \"" +
               std::string(text) + "\"; notice is taken");
  }
  return first ? static_cast<int>(level) : before;
}

void write_line(std::string_view line) {
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

}  // namespace

void log(LogLevel level, std::string_view line) {
  if (static_cast<int>(level) <= limit()) write_line(line);
}

void set_log_level(LogLevel limit) noexcept {
  limit_value.store(static_cast<int>(limit), std::memory_order_relaxed);
}

LogLevel log_level() noexcept { return static_cast<LogLevel>(limit()); }

}  // namespace teeny
