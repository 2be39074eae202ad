#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/sysroot/links.hpp"
#include "tool/sysroot/marker.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

struct SysrootRequest {
  Board board;
  std::filesystem::path path;
  std::optional<std::string> from = {};  ///< host to copy from; nullopt: what is there is taken
  std::string ssh = "ssh";
  std::vector<std::string> folders = {};  ///< of the board, besides those of its file
};

struct SysrootResult {
  SysrootMarker marker;
  LinkReport links;
  std::vector<std::string> missing;     ///< folders that the board has not
  std::vector<std::string> unreadable;  ///< what the login may not read, in the copier's words
};

/// Makes or finishes a sysroot: copies (where `from` is given), adds the folders that belong to a
/// root, mends links, links a program with it and writes the marker. With nothing to link it stays
/// a scaffold. Whatever ends it early, the tree does not look finished, and the same call goes on
/// with it. Error(usage) for a directory that is something else.
[[nodiscard]] SysrootResult make_sysroot(const SysrootRequest& request);

}  // namespace teeny::tool
