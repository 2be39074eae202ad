#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace teeny {

/// Whole file as bytes; Error(environment) naming path and reason when it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);
/// Same, but nullopt when the file does not exist (any other failure still throws).
[[nodiscard]] std::optional<std::string> read_file_if_exists(const std::filesystem::path& path);

/// Writes under a private name in the same directory (pid + random), fsyncs and renames, so that a
/// reader sees the old file or the new one, whole. `mode` is exact, whatever the umask.
void write_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0644);

/// A private directory (mode 0700) removed with everything in it on destruction.
class TemporaryDirectory {
 public:
  /// Under $TMPDIR or /tmp unless `parent` is given.
  explicit TemporaryDirectory(std::string_view prefix = "teeny",
                              const std::filesystem::path& parent = {});
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// An exclusive lock on a file (flock), freed by the kernel when its owner dies. The owner writes
/// its pid and host into the file, so that one who waits can say for whom.
class FileLock {
 public:
  /// Waits at most `patience`; Error(environment) naming the owner when it runs out.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// The running executable, links resolved (/proc/self/exe).
[[nodiscard]] std::filesystem::path executable_path();

}  // namespace teeny
