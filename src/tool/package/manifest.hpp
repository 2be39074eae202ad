#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/package/elf.hpp"

#include "teeny/cache/artifact.hpp"
#include "teeny/cache/package.hpp"

namespace teeny::tool {

struct PackagedKernel {
  std::string type;  ///< its C++ type, for people; empty where the program keeps no record of it
  std::string artifact;  ///< path below the package
  std::string runs_on;   ///< "sm_87 and later"
  ArtifactInfo info;
};

struct PackagedElf {
  std::string path;
  std::string machine;
  std::string interpreter;
  std::vector<std::string> libraries;
  std::vector<std::pair<std::string, std::string>> versions;  ///< {"GLIBC", "2.34"}
};

/// `conf/manifest.json`: what a package holds and asks for. The same package gives the same bytes;
/// its SHA-256 is the release's id. Documented in docs/formats.md.
struct Manifest : PackageContents {
  std::vector<PackagedKernel> kernels;
  std::vector<PackagedElf> elf_needs;
  std::vector<std::pair<std::string, std::string>> tools;  ///< {"cxx", "GNU 12.2.0"}

  [[nodiscard]] std::string to_json() const;
};

/// Every file below `package` but the manifest, with modes as they will be (0755 for what is
/// executable, else 0644), sorted by path. Error(input) for what is neither file nor directory.
[[nodiscard]] std::vector<PackagedFile> list_files(const std::filesystem::path& package);

/// What of `found` differs from `wanted`, one line each: "missing: bin/a", "extra: x", "altered:
/// y".
[[nodiscard]] std::vector<std::string> compare_files(const std::vector<PackagedFile>& wanted,
                                                     const std::vector<PackagedFile>& found,
                                                     bool modes = true);

}  // namespace teeny::tool
