#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/package/elf.hpp"

#include "teeny/cache/artifact.hpp"

namespace teeny::tool {

struct PackagedFile {
  std::string path;  ///< below the package, with slashes
  unsigned mode = 0644;
  std::uint64_t size = 0;
  std::string sha256;
  friend bool operator==(const PackagedFile&, const PackagedFile&) = default;
};

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
struct Manifest {
  static constexpr const char* path = "conf/manifest.json";

  std::string name;
  std::string board;  ///< "jetson-orin-nano@6.0"
  std::string triple;
  std::vector<std::string> programs;                         ///< names under bin/
  std::vector<std::pair<std::string, std::string>> devices;  ///< device and its completed options
  std::vector<PackagedFile> files;  ///< all but the manifest itself, sorted by path
  std::vector<PackagedKernel> kernels;
  std::vector<PackagedElf> elf_needs;
  std::vector<std::pair<std::string, std::string>> tools;  ///< {"cxx", "GNU 12.2.0"}

  [[nodiscard]] std::string to_json() const;
  /// Reads back what deploying needs: name, board, triple, programs, files. Error(input) naming
  /// `origin` when it is damaged or of a newer schema.
  [[nodiscard]] static Manifest from_json(const std::string& json, const std::string& origin);
  /// Of a package directory; Error(input) when it is none.
  [[nodiscard]] static Manifest read(const std::filesystem::path& package);
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
