#pragma once

#include <string>
#include <vector>

#include "tool/project/project.hpp"

namespace teeny::tool {

/// What a build of programs would do, as far as their kernels go.
struct PendingBuild {
  std::vector<std::string> objects;  ///< compilations that are due, relative to the build directory
  bool more = false;                 ///< something else than compiling and linking is due
};

/// What `ninja -n` prints: "[1/3] Building CXX object CMakeFiles/app.dir/app.cpp.o", ...
[[nodiscard]] PendingBuild parse_dry_run(const std::string& output);

/// What a build of these targets would do; nothing is built. Needs configure().
[[nodiscard]] PendingBuild pending_build(const BuildTree& tree,
                                         const std::vector<TargetInfo>& targets);

/// Whether one of these objects may hold a kernel: when it was compiled last, its source included
/// the kernel language. One that was never compiled may, if `unknown` says so.
[[nodiscard]] bool may_hold_kernels(const BuildTree& tree, const std::vector<std::string>& objects,
                                    bool unknown);

}  // namespace teeny::tool
