#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teeny {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;
[[nodiscard]] std::string join(const std::vector<std::string>& words, std::string_view separator);
/// Decimal digits only, no sign, no blanks, within 64 bits.
[[nodiscard]] std::optional<unsigned long long> parse_unsigned(std::string_view text) noexcept;
/// Any bytes as printable ASCII: what is not, and the percent sign, is written as %XX. Reading back
/// text with a % that no two hexadecimal digits follow gives nullopt.
[[nodiscard]] std::string escape_bytes(std::string_view bytes);
[[nodiscard]] std::optional<std::string> unescape_bytes(std::string_view text);
/// The word among `known` within edit distance 2 of `word` (the nearest), for "did you mean".
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& known);

}  // namespace teeny
