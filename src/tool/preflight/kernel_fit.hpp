#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/package/kernels.hpp"
#include "tool/preflight/board_facts.hpp"

namespace teeny::tool {

/// Whether each kernel of a package has, for each of its `devices`, code that loads on the board,
/// within a block's shared memory; every PTX that is for the board's capability must moreover be of
/// a version that the driver takes. What cannot be judged, and what the driver has to compile, gets
/// a line in `notices`.
void check_kernels_load(const std::filesystem::path& package,
                        const std::vector<PackagedKernel>& kernels,
                        const std::vector<std::string>& devices, const BoardFacts& facts,
                        std::vector<Finding>& findings, std::vector<std::string>& notices);

}  // namespace teeny::tool
