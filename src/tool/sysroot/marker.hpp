#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace teeny::tool {

/// Where a sysroot comes from and what is in it: ROOT/.teeny-sysroot.json, written last
/// (docs/formats.md).
struct SysrootMarker {
  static constexpr const char* path = ".teeny-sysroot.json";
  /// Is there from before the first change until after the marker: a tree with it is not whole.
  static constexpr const char* unfinished_path = ".teeny-sysroot.unfinished";

  std::string triple;                ///< "aarch64-linux-gnu"
  std::string board;                 ///< "jetson-xavier-nx@5.1"
  std::string source = {};           ///< host that it was copied from; empty: filled by hand
  std::string made = {};             ///< "2026-12-01T09:30:00Z"
  std::vector<std::string> folders;  ///< of the board, absolute, as they were copied
  std::string glibc = {};            ///< "2.31", by its headers; empty: nothing is in it yet
  std::string glibcxx = {};          ///< "3.4.28", by its library
  std::string l4t = {};              ///< "R35.2.1"; empty where the board did not say
  std::string compiler = {};         ///< that linked a program with it; empty: nothing is in it yet

  [[nodiscard]] std::string to_json() const;
  /// Error(input) naming the file when it is damaged or of a newer version.
  [[nodiscard]] static SysrootMarker parse(const std::string& text,
                                           const std::filesystem::path& file);
};

enum class SysrootState {
  absent,      ///< nothing is there, or an empty directory
  foreign,     ///< a directory with other things in it
  unfinished,  ///< a copy was begun and not ended
  scaffold,    ///< folders alone
  finished,    ///< whole, and a program was linked with it
};

/// What lies at `root`; with the marker where it is a scaffold or finished.
struct FoundSysroot {
  SysrootState state = SysrootState::absent;
  std::optional<SysrootMarker> marker = {};
};
[[nodiscard]] FoundSysroot look_at_sysroot(const std::filesystem::path& root);

/// The command that makes a sysroot for a board there, for messages.
[[nodiscard]] std::string sysroot_command(const std::string& triple, const std::string& board,
                                          const std::filesystem::path& root);

}  // namespace teeny::tool
