#pragma once

#include <string>

namespace teeny {

/// One thing that keeps a program from running where it shall run: "wanted X, board has Y", what to
/// do, and the exit code of its kind.
struct Finding {
  int exit_code;
  std::string text;
  std::string next;
};

/// Exit codes by what is wrong; of several findings the lowest counts.
namespace finding_code {
inline constexpr int capability = 10;
inline constexpr int driver = 11;  ///< or the PTX version that it loads
inline constexpr int c_library = 12;
inline constexpr int dtype = 13;
inline constexpr int space = 14;  ///< memory or disk
inline constexpr int incomplete = 15;
inline constexpr int unreachable = 16;
}  // namespace finding_code

}  // namespace teeny
