#pragma once

#include <chrono>
#include <filesystem>

#include "teeny/base/files.hpp"
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

/// The lock of something in a cache. Its file goes away with it, so that a cache holds nothing but
/// code; FileLock knows that a lock on a file without its name holds nothing.
class CacheLock {
 public:
  CacheLock(std::filesystem::path path, std::chrono::milliseconds patience)
      : path_(std::move(path)), lock_(path_, patience) {}
  ~CacheLock();
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  std::filesystem::path path_;
  FileLock lock_;
};

}  // namespace teeny::detail
