#pragma once

#include <string>
#include <vector>

#include "tool/package/elf.hpp"
#include "tool/package/findings.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Whether a board of this generation can load the file: machine, loader, every version of the C
/// and C++ libraries, every library (the board's own, or one of `packaged`), no search path of this
/// host. `name` is what messages call the file.
[[nodiscard]] std::vector<Finding> check_elf(const ElfInfo& elf, const std::string& name,
                                             const Board& board,
                                             const std::vector<std::string>& packaged);

/// The path that the board's programs name as their loader.
[[nodiscard]] const char* loader_of(const Board& board);

/// The highest version each library family is asked for: {"GLIBC": "2.34", "GLIBCXX": "3.4.29"}.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> highest_versions(const ElfInfo& elf);

/// -1, 0 or 1: dotted numbers compared part by part.
[[nodiscard]] int compare_versions(const std::string& a, const std::string& b);

}  // namespace teeny::tool
