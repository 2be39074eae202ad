#pragma once

#include <string>
#include <string_view>

#include "teeny/target/board.hpp"

namespace teeny {

/// The format of boards as JSON that this teeny writes, and the newest that it reads.
inline constexpr int board_json_schema = 1;

/// A board and its chosen generation as JSON: what a package carries (conf/board.json) and what
/// `teeny boards NAME --json` prints. The same board gives the same bytes. Documented in
/// docs/formats.md.
[[nodiscard]] std::string board_to_json(const Board& board);

/// Reads it back. Error(input) naming `origin` and the field that is missing or malformed, or that
/// the text is of a newer format than this teeny reads.
[[nodiscard]] Board board_from_json(std::string_view text, const std::string& origin);

}  // namespace teeny
