#pragma once

#include <string_view>

namespace teeny {

enum class LogLevel { error, warning, notice, debug };

/// One line to stderr, prefixed "teeny: ", whole in one write, when `level` is within the limit.
void log(LogLevel level, std::string_view line);
void set_log_level(LogLevel limit) noexcept;
/// Default limit: what TEENY_LOG says (error, warning, notice, debug), else notice.
[[nodiscard]] LogLevel log_level() noexcept;

}  // namespace teeny
