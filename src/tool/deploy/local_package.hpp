#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tool/package/manifest.hpp"

namespace teeny::tool {

/// A package on this machine, whole: every file is there and as its manifest says.
struct LocalPackage {
  std::filesystem::path directory;  ///< absolute
  PackageContents manifest;
  std::string id;                   ///< of the release it becomes
  std::vector<PackagedFile> files;  ///< all of them, the manifest too
  std::uint64_t size = 0;

  /// Error(input) when it is no package (exit code 1), or not the one that its manifest tells of
  /// (15), or has a file name that a board's tools cannot list.
  [[nodiscard]] static LocalPackage read(const std::filesystem::path& directory);

  /// The program of that name; without a name, the only one. Error(usage) listing them otherwise.
  [[nodiscard]] std::string program(const std::string& name) const;
};

/// The first digits of a release's id, for people.
[[nodiscard]] std::string short_id(const std::string& id);

}  // namespace teeny::tool
