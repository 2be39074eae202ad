#pragma once

#include <filesystem>
#include <optional>

namespace teeny::detail {

/// First word of the first line that a check prints, so that who starts it knows that it began.
inline constexpr const char* check_word = "checking";

/// Verifies, without running a kernel, that everything this program needs is there and fits: every
/// kernel of it in its cache, whole, for every kind of device that the cache holds code for, of the
/// right launch ABI and parameters, compiled from what the program traces now; in a package also
/// every file of the manifest, and the weights that the program declares with those in data/.
/// Compared with: the board of `board_file` (JSON as `teeny boards
/// --json` prints it), else this machine's devices; in a package on a machine without a CUDA device
/// that its kernels would need, the board it was made for.
///
/// A line for each kernel and device goes to stdout, every finding to stderr. Returns the lowest
/// exit code of the findings (`finding_code`), 0 without any. Error(input) for a board file that
/// cannot be read.
[[nodiscard]] int check_program(const std::optional<std::filesystem::path>& board_file);

}  // namespace teeny::detail
