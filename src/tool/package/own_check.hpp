#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/package/findings.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// How this machine can start a program of a board: by itself, or under a user-mode emulator that
/// is started by its path (never through binfmt), with the folder its libraries come from.
struct ProgramStarter {
  std::vector<std::string> words;  ///< before the program; empty: it is started by itself
  std::string described;           ///< "on this machine", "under /usr/bin/qemu-aarch64"
};

/// The starter for a program of `package`; nullopt when there is none, and then `why_none` says
/// why. `sysroot`: where the toolchain's C library for the board lies, if it names one.
[[nodiscard]] std::optional<ProgramStarter> find_starter(const std::filesystem::path& program,
                                                         const Board& board,
                                                         const std::filesystem::path& sysroot,
                                                         std::string* why_none);

/// Starts the packaged program's own --check against the package's board, with an empty
/// environment. What it finds goes to `findings`. Where it cannot be started on this machine (no
/// emulator, no libraries, another processor) that is said, and is no finding: the same package
/// comes out.
void run_own_check(const std::filesystem::path& package, const std::string& program,
                   const Board& board, const std::filesystem::path& sysroot,
                   std::vector<Finding>& findings);

}  // namespace teeny::tool
