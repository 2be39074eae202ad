#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/project/project.hpp"

namespace teeny::tool {

/// A target of teeny itself that find_package(teeny) brought into the project.
[[nodiscard]] bool is_of_teeny(const TargetInfo& target);

/// An object file of a target, as the build tool names it (relative to the build directory).
[[nodiscard]] bool is_object_of(const std::string& object, const TargetInfo& target);

/// Whether a file is the user's own: in the project, and not below its build trees.
[[nodiscard]] bool is_own_file(const std::filesystem::path& root,
                               const std::filesystem::path& file);

/// The C and C++ sources that the given targets (all targets, when there are none) compile and that
/// are the user's own; absolute, sorted, each once. Needs configure().
[[nodiscard]] std::vector<std::filesystem::path> own_sources(
    const BuildTree& tree, const std::vector<TargetInfo>& targets);

}  // namespace teeny::tool
