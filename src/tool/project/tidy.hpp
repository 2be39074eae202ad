#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/project/project.hpp"

namespace teeny::tool {

/// clang-tidy: its own release first, then others on PATH, the newest first. Error(environment)
/// naming the Debian package when there is none.
[[nodiscard]] std::filesystem::path find_clang_tidy();

/// What clang-tidy says of one place: "FILE:LINE:COLUMN: warning: ..." with the lines that belong
/// to it.
struct TidyFinding {
  std::filesystem::path file;
  std::string text;
  bool error = false;  ///< the source does not compile

  bool operator<(const TidyFinding& other) const { return text < other.text; }
  bool operator==(const TidyFinding& other) const { return text == other.text; }
};
[[nodiscard]] std::vector<TidyFinding> parse_tidy_output(const std::string& output);

/// Runs clang-tidy for the board of a configured tree, with the headers of its compiler, over the
/// given sources, as many at a time as the machine has cores. A project without a .clang-tidy gets
/// a default set of checks. Only findings in the user's own files are returned, each once, in order
/// of the sources; what does not compile is always among them.
[[nodiscard]] std::vector<TidyFinding> run_clang_tidy(
    const BuildTree& tree, const std::string& triple,
    const std::vector<std::filesystem::path>& sources);

}  // namespace teeny::tool
