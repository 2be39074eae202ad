#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace teeny::detail {

/// "87", "8.7", "121", "12.1": a major number of one or two digits and one digit of minor, a point
/// between them or not. How capabilities and PTX versions are written.
[[nodiscard]] inline std::optional<std::pair<int, int>> parse_two_numbers(
    std::string_view text) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() < 2) return std::nullopt;
  const char minor = text.back();
  text.remove_suffix(1);
  if (text.back() == '.') text.remove_suffix(1);
  if (text.empty() || text.size() > 2 || text.front() == '0' || !is_digit(minor)) {
    return std::nullopt;
  }
  int major = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    major = major * 10 + (c - '0');
  }
  return std::pair{major, minor - '0'};
}

}  // namespace teeny::detail
