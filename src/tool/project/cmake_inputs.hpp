#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tool/project/toolchain.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// A text as one CMake argument, whatever characters it holds.
[[nodiscard]] std::string cmake_quote(const std::string& text);

/// The file CMake includes at the first project(): what makes two builds of one source alike
/// (no paths of this machine, no build id), fits the code to the board's processor and lets the
/// linker find the CUDA driver by its name, without a search path in what is linked.
[[nodiscard]] std::string project_include(const std::filesystem::path& root,
                                          const std::optional<Board>& board,
                                          const Toolchain& toolchain, bool release);

/// The toolchain file for a board.
[[nodiscard]] std::string toolchain_file(const Board& board, const Toolchain& toolchain);

/// The bytes of the two files above as they lie in `inputs`, and of what they include, for telling
/// whether anything changed.
[[nodiscard]] std::string sources_of_inputs(const std::filesystem::path& inputs);

}  // namespace teeny::tool
