#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace teeny::tool {

/// A completion script for bash, 4.4 or later, made from the command line's own description: the
/// commands, their flags, and the values of flags by the names of their types: BOARD (board names
/// and files), DIR, FILE, HOST (aliases of the ssh configuration), N (programs of the project) and
/// fixed choices. The script asks the teeny that is typed for boards and programs.
[[nodiscard]] std::string bash_completions(const CLI::App& app);

/// The names of the programs of the project around `from`, as its last configure step told them,
/// sorted; none where nothing is configured. Nothing is run.
[[nodiscard]] std::vector<std::string> known_programs(const std::filesystem::path& from);

}  // namespace teeny::tool
