#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Reads one board file. Every key is checked: an unknown, missing or malformed one is
/// Error(input) naming file, key and what was found there. The oldest generation is chosen.
[[nodiscard]] Board read_board_file(const std::filesystem::path& path);
/// The same from text; `origin` is what messages call it.
[[nodiscard]] Board parse_board(std::string_view text, const std::string& origin);

/// `boards/` of the installed teeny, or of the build tree that this tool runs from.
[[nodiscard]] std::filesystem::path boards_directory();
/// Every shipped board, by name.
[[nodiscard]] std::vector<Board> shipped_boards();

/// What `--target` names: NAME, NAME@GENERATION, or a board file (a path with a slash, or ending in
/// .toml, with or without @GENERATION). Error(usage) naming the choices when there is no such
/// board, file or generation; `option` is what it was named with.
[[nodiscard]] Board find_board(std::string_view target, const std::string& option = "--target");

}  // namespace teeny::tool
