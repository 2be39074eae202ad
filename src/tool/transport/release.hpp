#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/package/manifest.hpp"
#include "tool/transport/transport.hpp"

namespace teeny::tool {

/// What one look at a board says.
struct BoardState {
  std::string machine;      ///< uname -m
  std::string destination;  ///< absolute
  bool has_rsync = false;
  std::optional<std::uint64_t> free_kib;
  std::string current;       ///< release that `current` points to; empty: none
  bool has_release = false;  ///< the release asked about is there
};

/// `<destination>/releases/<id>` on a board, with `<destination>/current` pointing to the live one.
class ReleaseDirectory {
 public:
  /// `destination`: absolute, or relative to the login's home ("~/" means the same).
  ReleaseDirectory(const Transport& transport, std::string destination, std::string id);

  /// One call to the board. Error (exit code 16) when it cannot be reached, with what to do.
  [[nodiscard]] BoardState look();
  /// Copies the package beside the live release, as `<id>.partial`. Returns the bytes sent.
  std::uint64_t copy(const std::filesystem::path& package, const BoardState& state,
                     bool with_rsync);
  /// Every file of a release (or of the partial one) as the board's own sha256sum reads it.
  [[nodiscard]] std::vector<PackagedFile> files(bool partial) const;
  /// Gives the partial release its name (one that was there is put aside and removed after).
  void settle() const;
  /// Points `current` to the release, in one step.
  void switch_to() const;

 private:
  [[nodiscard]] std::string release() const { return destination_ + "/releases/" + id_; }

  const Transport& transport_;
  std::string destination_;
  std::string id_;
};

}  // namespace teeny::tool
