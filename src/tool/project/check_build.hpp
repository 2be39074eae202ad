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

/// Type-checks the sources of the given targets (of all targets when there are none) in a tree made
/// for Purpose::check; returns how many there are. Error(input) when one does not compile.
std::size_t check_sources(const BuildTree& tree, const std::vector<TargetInfo>& targets);

/// Builds the programs among `targets` in the host tree (every program of the project that hands
/// its arguments to teeny, when there are no targets) and lets each trace and verify its kernels;
/// returns how many kernels there are. Error with the program's exit code when one does not.
std::size_t check_kernels(BuildTree& host, const std::vector<TargetInfo>& targets);

}  // namespace teeny::tool
