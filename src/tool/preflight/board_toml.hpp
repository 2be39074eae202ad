#pragma once

#include <string>

#include "tool/preflight/board_facts.hpp"

namespace teeny::tool {

/// A board file of these facts, which `parse_board` reads; what was not heard from the board itself
/// says so in a comment. Error(board) naming the facts that a board file cannot do without and that
/// are unknown.
[[nodiscard]] std::string board_to_toml(const BoardFacts& facts);

}  // namespace teeny::tool
