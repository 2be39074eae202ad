#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/preflight/board_facts.hpp"

#include "teeny/base/finding.hpp"

namespace teeny::tool {

/// What keeps a package from running on a board, each as "wanted X, board has Y" with what to do:
/// the manifest is whole and every file is as it says (15); machine, loader, versions of the C and
/// C++ libraries, libraries (12); each kernel has code that loads there, by the rules that a launch
/// goes by (10, 11), and each PTX is one that the driver takes (11), also where machine code would
/// do; CUDA libraries are of no newer major release than the driver (11); a block's shared memory,
/// the device memory that each program declares, the disk (14). Empty: it would run.
///
/// `notices`, when given, receives a line for what costs time or could not be judged. Nothing is
/// copied or started.
[[nodiscard]] std::vector<Finding> examine(const std::filesystem::path& package,
                                           const BoardFacts& facts,
                                           std::vector<std::string>* notices = nullptr);

}  // namespace teeny::tool
