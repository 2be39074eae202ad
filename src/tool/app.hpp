#pragma once

#include <memory>

#include "tool/commands/command.hpp"

namespace teeny::tool {

/// The command line: every command with its flags and its help. `session` outlives it.
[[nodiscard]] std::unique_ptr<CLI::App> make_command_line(Session& session);

/// The whole program: parses the command line, runs one command, prints errors. Returns the exit
/// code: 0; 2 for usage; 1 and the codes of teeny::Error for the rest; a child's own code where the
/// child is the point (aot).
int run_tool(int argc, const char* const* argv);

}  // namespace teeny::tool
