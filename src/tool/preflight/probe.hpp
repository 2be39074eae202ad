#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tool/preflight/board_facts.hpp"
#include "tool/transport/transport.hpp"

namespace teeny::tool {

struct ProbeRequest {
  /// A directory on the board, which need not exist: its disk is asked for free space. Relative to
  /// the home of the login; empty: that home.
  std::string destination = {};
  /// A teeny program built for the board; it is asked for what only the CUDA driver knows
  /// (--device-facts), from a temporary directory there that is removed again. Empty: nothing is
  /// copied to the board at all.
  std::filesystem::path program = {};
};

/// Asks a live board: a POSIX shell script there, which writes nothing, and `request.program` once
/// the script is satisfied with machine. What the driver does not say is taken from the generation
/// that the shipped board files give the board's L4T release, and `remarks` says so. Error (exit
/// code 16) when the board cannot be reached; Error(board) when it runs no POSIX shell.
[[nodiscard]] BoardFacts probe(const Transport& transport, const ProbeRequest& request);

/// What the script and the program answered.
struct ProbeAnswers {
  std::map<std::string, std::vector<std::string>> values;  ///< of each key, in order
  std::string device_facts;                                ///< JSON; empty: no program was asked
  std::string not_asked;  ///< why a program that was given could not be asked
};
/// The pure half: the facts in those answers. `host` gives the board its name; `boards` are the
/// table of L4T releases.
[[nodiscard]] BoardFacts facts_from(const ProbeAnswers& answers, const std::string& host,
                                    const std::vector<Board>& boards);

}  // namespace teeny::tool
