#pragma once

#include <string>

#include "tool/project/project.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace teeny::tool {

/// Adds -p, --bin, --example, --no-release and --features to a command; --examples where
/// `all_examples`. The words after -- are not among them.
void add_selection(CLI::App& command, Selection& selection, bool all_examples);
/// Adds --sysroot and --cuda-path: with what a board's programs are built.
void add_toolchain(CLI::App& command, Selection& selection);
/// Adds --target.
void add_target(CLI::App& command, std::string& target);

}  // namespace teeny::tool
