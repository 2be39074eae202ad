#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/commands/devices.hpp"
#include "tool/package/findings.hpp"
#include "tool/package/manifest.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Every artifact under `package`/cache, read and verified (a damaged one is a finding), with the
/// C++ types from the programs' records.
[[nodiscard]] std::vector<PackagedKernel> list_kernels(const std::filesystem::path& package,
                                                       const std::vector<std::string>& programs,
                                                       std::vector<Finding>& findings);

/// Whether every kernel that a program's record names is there for every device asked for, in a
/// form that loads on the board: machine code that does, where `requests` want any. An empty cache
/// and a program without a record are findings too. A kernel that the board's driver has to compile
/// is given a line in `notices`.
void check_kernels_complete(const std::filesystem::path& package,
                            const std::vector<std::string>& programs,
                            const std::vector<PackagedKernel>& kernels, const Board& board,
                            const std::vector<CompileRequest>& requests,
                            std::vector<Finding>& findings, std::vector<std::string>& notices);

}  // namespace teeny::tool
