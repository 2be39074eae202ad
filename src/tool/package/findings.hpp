#pragma once

#include <string>
#include <vector>

namespace teeny::tool {

/// One thing that keeps a package from running on its board: "wanted X, board has Y", what to do,
/// and the exit code of its kind.
struct Finding {
  int exit_code;
  std::string text;
  std::string next;
};

namespace finding_code {
inline constexpr int capability = 10;
inline constexpr int driver = 11;
inline constexpr int c_library = 12;
inline constexpr int dtype = 13;
inline constexpr int space = 14;
inline constexpr int incomplete = 15;
inline constexpr int unreachable = 16;
}  // namespace finding_code

/// Does nothing without findings. Else Error(board) whose text holds all of them and whose exit
/// code is the lowest among them; `what` begins the text.
void throw_findings(const std::vector<Finding>& findings, const std::string& what);

}  // namespace teeny::tool
