#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tool/transport/transport.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Where on a board the parts of a sysroot really lie.
struct RemoteFolders {
  std::vector<std::string> folders;  ///< absolute, without links on the way, none within another
  /// Links on the way to them: a merged /usr's ("/lib", "usr/lib"), the loader's, CUDA's.
  std::vector<std::pair<std::string, std::string>> links;
  std::vector<std::string> missing;  ///< of what was asked for
  bool multiarch = false;            ///< libraries are in /usr/lib/TRIPLE; else flat, in /usr/lib
  bool rsync = false;                ///< the board has it
  std::string l4t;                   ///< "R35.2.1"; empty for another machine
};

/// Asks the board for the folders that its file names, and for `more`. Where it has no multiarch
/// folder, its whole library folders are meant. Error(board) when it is another machine.
[[nodiscard]] RemoteFolders find_remote_folders(const Transport& transport, const Board& board,
                                                const std::vector<std::string>& more);

/// Folders of a flat board that no program is linked with, below each library folder.
[[nodiscard]] const std::vector<std::string>& not_for_linking();

}  // namespace teeny::tool
