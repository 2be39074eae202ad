#include "tool/transport/copy_progress.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "tool/package/table.hpp"

#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds between_rewrites{100};
constexpr seconds first_line{5};

// To the same place as the log's lines, each in one write.
void write_to_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

CopyProgress::CopyProgress(std::uint64_t total)
    : CopyProgress(total, ::isatty(STDERR_FILENO) != 0,
                   log_level() >= LogLevel::notice
                       ? std::function<void(std::string_view)>(write_to_error)
                       : std::function<void(std::string_view)>(),
                   Clock::now) {}

CopyProgress::CopyProgress(std::uint64_t total, bool terminal,
                           std::function<void(std::string_view)> write,
                           std::function<Clock::time_point()> now)
    : total_(total),
      terminal_(terminal),
      write_(std::move(write)),
      now_(std::move(now)),
      start_(now_()),
      next_(start_ + (terminal ? Clock::duration(between_rewrites) : Clock::duration(first_line))) {
}

CopyProgress::~CopyProgress() {
  if (terminal_ && shown_) write_("\r\033[K");
}

std::string CopyProgress::line(std::uint64_t done, Clock::duration elapsed) const {
  std::string text = "teeny: copied " + readable_size(done) + " of " + readable_size(total_);
  if (total_ != 0) text += " (" + std::to_string(done * 100 / total_) + " %)";
  const auto passed = std::chrono::duration_cast<milliseconds>(elapsed).count();
  if (passed > 0) {
    const double rate = static_cast<double>(done) * 1000.0 / static_cast<double>(passed);
    text += ", " + readable_size(static_cast<std::uint64_t>(rate)) + "/s";
  }
  return text;
}

void CopyProgress::at(std::uint64_t done) {
  if (!write_) return;
  const auto now = now_();
  if (now < next_) return;
  const std::string text = line(std::min(done, total_), now - start_);
  if (terminal_) {
    write_("\r" + text + "\033[K");
    next_ = now + between_rewrites;
  } else {
    write_(text + "\n");
    next_ = now + (now - start_);
  }
  shown_ = true;
}

std::optional<std::uint64_t> rsync_progress(std::string_view line) {
  line = trim(line);
  const auto end = line.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  const auto rest = trim(line.substr(end));
  const auto percent = rest.find('%');
  if (percent == std::string_view::npos || !parse_unsigned(rest.substr(0, percent))) {
    return std::nullopt;
  }
  return parse_unsigned(line.substr(0, end));
}

}  // namespace teeny::tool
