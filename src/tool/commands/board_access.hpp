#pragma once

#include <string>

namespace CLI {
class App;
}

namespace teeny::tool {

/// --ssh and --dest, as every command that leaves something on a board takes them.
struct BoardAccess {
  std::string ssh = "ssh";
  std::string destination;

  /// --dest, else teeny/`name`. Error(usage) when both are missing.
  [[nodiscard]] std::string destination_of(const std::string& name) const;
};

void add_board_access(CLI::App& command, BoardAccess& access);

}  // namespace teeny::tool
