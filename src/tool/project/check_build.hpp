#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tool/project/project.hpp"

namespace teeny::tool {

/// First word of the tool when CMake starts it in front of a compiler in a check build.
inline constexpr std::string_view check_launcher_word = "__check-launcher";

/// Runs a compiler's front end only: `words` is the compile command; an empty object file and the
/// dependency file are left, so that the build tool knows what is up to date. Returns the
/// compiler's exit code.
int run_check_launcher(const std::vector<std::string>& words);

/// Type-checks the sources of the given targets (of all targets but teeny's own, when there are
/// none) in a tree made for Purpose::check; returns how many there are. Error(input) when one does
/// not compile.
std::size_t check_sources(const BuildTree& tree, const std::vector<TargetInfo>& targets);

}  // namespace teeny::tool
