#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// CUDA's headers and stub libraries for programs of a board, on this machine: the folder with
/// include/ and lib/. `cuda_path`: what --cuda-path says, a toolkit (then the folder of it that the
/// board's file names, targets/aarch64-linux or targets/sbsa-linux, is meant) or such a folder
/// itself; empty: `toolkit`, if it has the board's folder. nullopt: there is none, and none was
/// named; teeny's own code needs none. Error(environment) naming what is there instead.
[[nodiscard]] std::optional<std::filesystem::path> find_cuda_directory(
    const Board& board, const std::string& cuda_path,
    const std::filesystem::path& toolkit = "/usr/local/cuda");

}  // namespace teeny::tool
