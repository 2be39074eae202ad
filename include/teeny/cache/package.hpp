#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace teeny {

/// A file of a package, as its manifest tells it.
struct PackagedFile {
  std::string path;  ///< below the package, with slashes
  unsigned mode = 0644;
  std::uint64_t size = 0;
  std::string sha256;
  friend bool operator==(const PackagedFile&, const PackagedFile&) = default;
};

/// The part of `conf/manifest.json` that running, checking and deploying a package need. Documented
/// in docs/formats.md; written by `teeny package`.
struct PackageContents {
  static constexpr const char* path = "conf/manifest.json";
  static constexpr const char* board_path = "conf/board.json";
  static constexpr const char* schema = "teeny-package/1";

  std::string name;
  std::string board;  ///< "jetson-orin-nano@6.0"
  std::string triple;
  std::vector<std::string> programs;                         ///< names under bin/
  std::vector<std::pair<std::string, std::string>> devices;  ///< device and its completed options
  std::vector<PackagedFile> files;  ///< all but the manifest itself, sorted by path
  /// The most that any of the programs declares; absent where one of them declares nothing.
  std::optional<std::uint64_t> peak_device_bytes = {};

  /// Error(input) naming `origin` when it is damaged or of another schema, or names a path outside.
  [[nodiscard]] static PackageContents from_json(const std::string& json,
                                                 const std::string& origin);
  /// Of a package directory; Error(input) when it is none.
  [[nodiscard]] static PackageContents read(const std::filesystem::path& package);
};

/// Compares one file of `package` with its entry: nullopt when size and digest are as wanted; else
/// what is wrong, beginning with the path: "bin/a: missing", "bin/a: altered: wanted ..., found
/// ...".
[[nodiscard]] std::optional<std::string> file_problem(const std::filesystem::path& package,
                                                      const PackagedFile& file);

}  // namespace teeny
