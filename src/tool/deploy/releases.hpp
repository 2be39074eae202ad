#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tool/deploy/copy_plan.hpp"
#include "tool/package/manifest.hpp"
#include "tool/transport/transport.hpp"

namespace teeny::tool {

/// What one look at a board says.
struct BoardState {
  std::string destination;  ///< absolute
  bool has_rsync = false;
  std::uint64_t staged_kib = 0;       ///< of the release asked about, from an attempt cut off
  std::string unwritable;             ///< the directory that would have to be writable and is not
  std::string current;                ///< release that `current` points to; empty: none
  std::vector<std::string> releases;  ///< ids of those that are there, sorted
  std::vector<std::string> history;   ///< see history.hpp

  [[nodiscard]] bool has(const std::string& id) const;
  /// The release that is likest to a new one: the one in use, else the last that was. Empty: none.
  [[nodiscard]] std::string likest() const;
};

/// `<destination>/releases/<id>` on a board, with `<destination>/current` pointing to the live one.
///
/// A release grows under a name of its own, `<id>.partial-<token>`, and is given its name when it
/// is whole. An attempt takes over what an earlier one of the same id left, by moving it into a
/// directory that is new: an earlier attempt that is not quite dead writes beside it.
class Releases {
 public:
  /// `destination`: absolute, or relative to the login's home ("~/" means the same).
  Releases(const Transport& transport, std::string destination);

  /// One call to the board, which changes nothing there. Error (exit code 16) when it cannot be
  /// reached, with what to do. `id`: the release that is asked about; may be empty.
  [[nodiscard]] BoardState look(const std::string& id);

  // All below: after `look`. A name is that of a directory below releases/.

  /// Every file in it, as the board's own sha256sum reads it. None when there is no such directory.
  [[nodiscard]] std::vector<PackagedFile> files(const std::string& name) const;
  /// The files of what earlier attempts at `id` left: what `stage` would take over.
  [[nodiscard]] std::vector<PackagedFile> staged_files(const std::string& id) const;
  /// The text of a file in it.
  [[nodiscard]] std::string read(const std::string& name, const std::string& path) const;

  /// Makes a directory for the release and returns its name.
  [[nodiscard]] std::string stage(const std::string& id) const;
  /// Makes the staged directory's files those of the package. `like`: the release that lends equal
  /// files; may be empty. How far it is, is shown. Returns the bytes sent.
  std::uint64_t copy_by_rsync(const std::filesystem::path& package, const std::string& staged,
                              const std::string& like) const;
  std::uint64_t copy_by_tar(const std::filesystem::path& package,
                            const std::vector<PackagedFile>& wanted, const std::string& staged,
                            const std::string& like) const;
  /// Runs the program's own --check there: its exit code and what it printed.
  [[nodiscard]] ProcessResult check(const std::string& name, const std::string& program) const;

  /// Gives the staged directory the release's name (one that had it is removed; empty: the release
  /// is there), writes the history, and points `current` to it in one step.
  void switch_to(const std::string& id, const std::string& staged,
                 const std::vector<std::string>& history) const;
  /// Removes releases, or staged directories.
  void remove(const std::vector<std::string>& names) const;
  /// Removes what attempts of other releases left a day ago or earlier.
  void remove_leftovers() const;

  [[nodiscard]] std::string path_of(const std::string& name) const {
    return destination_ + "/releases/" + name;
  }

 private:
  const Transport& transport_;
  std::string destination_;
};

}  // namespace teeny::tool
