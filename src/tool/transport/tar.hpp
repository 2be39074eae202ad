#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "teeny/cache/package.hpp"

namespace teeny::tool {

/// Takes the next piece of a stream; false when nobody reads any more.
using Sink = std::function<bool(std::string_view)>;

/// Writes the contents of a directory (files and directories, modes 0755 and 0644, no owner, no
/// time) as a tar stream in the POSIX pax format. Returns the bytes written; nullopt when the sink
/// gave up. Error(input) for what is neither file nor directory.
[[nodiscard]] std::optional<std::uint64_t> write_tar(const std::filesystem::path& directory,
                                                     const Sink& sink);

/// The same of only those files, with the modes they name and without entries for directories.
[[nodiscard]] std::optional<std::uint64_t> write_tar(const std::filesystem::path& directory,
                                                     const std::vector<PackagedFile>& files,
                                                     const Sink& sink);

}  // namespace teeny::tool
