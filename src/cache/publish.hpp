#pragma once

#include <filesystem>

#include "teeny/cache/artifact.hpp"

namespace teeny::detail {

/// Creates a cache's own directory, and those above it: 0700 directly below /tmp, else by umask.
void make_cache_directory(const std::filesystem::path& directory);

/// Creates a directory inside a cache, as open to the group and to others as the cache itself.
void make_shared_directory(const std::filesystem::path& directory);

/// The mode of a file in `directory`: as open as a shared cache is, else 0644.
[[nodiscard]] unsigned file_mode(const std::filesystem::path& directory);

/// Reads and verifies one artifact of a cache; Error(input) when it is damaged, or when its name is
/// not the one its description asks for.
[[nodiscard]] Artifact read_artifact(const std::filesystem::path& path);

}  // namespace teeny::detail
