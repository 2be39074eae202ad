#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// A text as one CMake argument, whatever characters it holds.
[[nodiscard]] std::string cmake_quote(const std::string& text);

/// The file CMake includes at the first project(): what makes two builds of one source alike
/// (no paths of this machine, no build id) and fits the code to the board's processor.
[[nodiscard]] std::string project_include(const std::filesystem::path& root,
                                          const std::optional<Board>& board, bool release);

/// The toolchain file for a board. Error(environment) when this machine has no compiler for it.
[[nodiscard]] std::string toolchain_file(const Board& board);

/// The bytes of the two files above as they lie in `inputs`, and of what they include, for telling
/// whether anything changed.
[[nodiscard]] std::string sources_of_inputs(const std::filesystem::path& inputs);

}  // namespace teeny::tool
