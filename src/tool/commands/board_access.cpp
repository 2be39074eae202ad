#include "tool/commands/board_access.hpp"

#include <CLI/CLI.hpp>

#include "teeny/base/error.hpp"

namespace teeny::tool {

std::string BoardAccess::destination_of(const std::string& name) const {
  if (!destination.empty()) return destination;
  if (name.empty()) {
    throw Error(ErrorKind::usage, "neither --dest nor --package says where on the board to look",
                "give the one that you deployed with");
  }
  return "teeny/" + name;
}

void add_board_access(CLI::App& command, BoardAccess& access) {
  command
      .add_option("--dest", access.destination,
                  "directory on the board; default teeny/NAME in the home of the login")
      ->type_name("DIR");
  command.add_option("--ssh", access.ssh, "the ssh command, e.g. \"ssh -p 2222 -F config\"")
      ->type_name("CMD");
}

}  // namespace teeny::tool
