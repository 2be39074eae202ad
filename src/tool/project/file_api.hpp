#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace teeny::tool {

/// A target of a configured CMake project, as the File API tells it.
struct TargetInfo {
  std::string name;
  std::string type;                    ///< "EXECUTABLE", "STATIC_LIBRARY", ...
  std::string name_on_disk;            ///< file name of what it builds; empty for utilities
  std::vector<std::string> artifacts;  ///< paths, relative to the build directory unless outside it
  std::string source;                ///< directory that defines it, relative to the project's root
  std::string project;               ///< name of the project() it belongs to
  std::vector<std::string> sources;  ///< relative to the project's root unless outside it

  [[nodiscard]] bool is_executable() const { return type == "EXECUTABLE"; }
  /// Made by teeny_add_kernels(): it holds the kernels of another program and is built in its place
  /// on the host.
  [[nodiscard]] bool has_kernels_alone() const;
  /// The name of the program that it is, or that it holds the kernels of.
  [[nodiscard]] std::string program() const;
  /// Defined in a directory called examples or below one.
  [[nodiscard]] bool is_example() const;
};

/// What a configured build directory says of itself.
struct Codemodel {
  std::vector<TargetInfo> targets;
  std::vector<std::string> projects;
  std::map<std::string, std::string> cache;        ///< CMake cache: name -> value
  std::map<std::string, std::string> cache_types;  ///< name -> BOOL, STRING, UNINITIALIZED, ...
  std::string compiler;                            ///< "GNU 12.2.0" of C++
  std::string compiler_path;                       ///< of C++
  std::vector<std::string> input_files;  ///< outside the project, that CMake read (not its own)
  std::vector<std::string> include_directories;  ///< of all targets, absolute, each once
};

/// Asks for replies: must be called before CMake configures the directory.
void write_file_api_query(const std::filesystem::path& build_directory);
/// The reply of the last configure step; nullopt when there is none. Error(environment) when it is
/// there but cannot be understood.
[[nodiscard]] std::optional<Codemodel> read_file_api_reply(
    const std::filesystem::path& build_directory);

}  // namespace teeny::tool
