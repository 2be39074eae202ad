#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/project/file_api.hpp"

namespace teeny::tool {

/// A toolchain in a container: what a build's commands run in, instead of on this machine. Every
/// directory that they need is there under its own path, so that a build directory is the same in
/// both.
class Container {
 public:
  /// `engine`: "podman" or "docker"; "any": the first of them on PATH. Error(environment) when it
  /// is not there, Error(usage) for another name.
  explicit Container(const std::string& engine);

  [[nodiscard]] const std::string& engine() const noexcept { return engine_; }
  /// Makes a directory known inside. What does not exist, or lies within one that is known with the
  /// same rights, adds nothing. Error(input) for a path that a mount cannot be written with.
  void add(const std::filesystem::path& directory, bool writable = false);
  /// Makes this teeny known: its program, toolchain files and the board wing's sources.
  void add_installation();
  /// The words that run `command` inside, in `directory`, as this user.
  [[nodiscard]] std::vector<std::string> wrap(const std::vector<std::string>& command,
                                              const std::filesystem::path& directory) const;
  /// Builds the toolchain's image from share/teeny/container unless the engine has it. Error
  /// (environment) with the engine's words when that fails.
  void require_image() const;

 private:
  struct Mount {
    std::string path;
    bool writable;
  };
  std::string engine_;
  std::vector<Mount> mounts_;
};

/// "localhost/teeny-toolchain:0.1.0": a version of teeny has one image.
[[nodiscard]] std::string toolchain_image();

/// Directories outside `project` that CMake read files of or gave a compiler to look for headers
/// in, and that no image has: what lies below /usr, /lib and /opt/cmake comes with the image or a
/// sysroot. For a package's configuration file (PREFIX/lib/cmake/NAME/...) PREFIX is meant.
[[nodiscard]] std::vector<std::filesystem::path> local_dependencies(
    const Codemodel& codemodel, const std::filesystem::path& project);

}  // namespace teeny::tool
