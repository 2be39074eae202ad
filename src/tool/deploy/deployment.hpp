#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tool/deploy/local_package.hpp"
#include "tool/transport/transport.hpp"

namespace teeny::tool {

struct DeployRules {
  bool overwrite = false;           ///< a release of the same id is replaced, not verified
  bool dry_run = false;             ///< say what would be done; nothing is written on the board
  std::optional<std::size_t> keep;  ///< so many releases stay, the one in use counted
};

struct Deployed {
  std::string id;
  std::string name;                   ///< of the package
  std::string destination;            ///< absolute
  std::string before;                 ///< what was in use till now; empty: nothing
  std::vector<std::string> programs;  ///< names under bin/
  bool was_there = false;             ///< the release was on the board already
  bool dry = false;                   ///< nothing was done: what it would be
  std::uint64_t sent = 0;             ///< bytes
};

/// Copies the package to a board beside the release in use, verifies every file there, runs the
/// programs' own --check there, and switches to it in one step; then removes old releases if the
/// rules say so. Returns only when all of that is confirmed by the board. Each Error says which
/// state the board was left in; before the switch the release in use is untouched.
[[nodiscard]] Deployed deploy(const Transport& transport, const LocalPackage& package,
                              const std::string& destination, const DeployRules& rules);

/// Verifies the release that was in use before the present one, as its own manifest on the board
/// tells of it, and switches to it. Error(board) where there is none.
[[nodiscard]] Deployed roll_back(const Transport& transport, const std::string& destination,
                                 bool dry_run);

}  // namespace teeny::tool
