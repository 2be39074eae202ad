#pragma once

#include <filesystem>

namespace teeny::tool {

/// Where the tool that runs lies, and teenyc beside it.
[[nodiscard]] std::filesystem::path executable_directory();
/// `<prefix>` of the tool that runs: `<prefix>/bin/teeny`. A build tree has the same layout.
[[nodiscard]] std::filesystem::path prefix_directory();
/// `<prefix>/share/teeny`: boards, toolchain files, the board wing's sources.
[[nodiscard]] std::filesystem::path share_directory();
/// teenyc beside the tool; Error(environment) when it is not there.
[[nodiscard]] std::filesystem::path teenyc_path();

}  // namespace teeny::tool
