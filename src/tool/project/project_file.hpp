#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

/// A project's teeny.toml (docs/formats.md): what command lines may leave out. Every key may be
/// absent; a list that is absent is empty.
struct ProjectFile {
  static constexpr const char* name = "teeny.toml";

  struct Device {
    std::string device;  ///< "cuda" or "cpu"
    std::optional<std::string> options = {};
  };
  struct Package {
    std::optional<std::string> target;
    std::vector<Device> devices;
    std::vector<std::string> bins;
    std::vector<std::string> examples;
    std::vector<std::string> data;
    std::optional<std::string> destination;  ///< dest
  };
  struct Deploy {
    std::vector<std::string> hosts;          ///< host or hosts
    std::optional<std::string> destination;  ///< dest, on the board
    std::optional<std::string> package;
  };

  std::filesystem::path path;
  Package package;
  Deploy deploy;

  /// A path of the file, which is relative to the directory that the file lies in.
  [[nodiscard]] std::string resolved(const std::string& text) const;
};

/// Reads the text of a teeny.toml that lies at `path`. Error(usage) naming line, column and key
/// (and the nearest known one) for what is no TOML, an unknown key or table, or a value of a wrong
/// type.
[[nodiscard]] ProjectFile parse_project_file(std::string_view text,
                                             const std::filesystem::path& path);

/// The one in a project's root; nullopt where there is none.
[[nodiscard]] std::optional<ProjectFile> read_project_file(const std::filesystem::path& root);

}  // namespace teeny::tool
