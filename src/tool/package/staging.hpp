#pragma once

#include <filesystem>
#include <string>

#include "teeny/base/files.hpp"

namespace teeny::tool {

/// A package being made: a private directory beside its destination, which takes the destination's
/// place in one step, or goes away.
class Staging {
 public:
  /// Error(usage) when `destination` is there and is no package. Parents are created.
  explicit Staging(std::filesystem::path destination);

  /// Where the package grows, with bin/, cache/, conf/ and data/ in it.
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Takes away what a compiler run leaves beside its results (locks, half-written files), and
  /// gives every file and directory the mode it has in any package, whatever the umask.
  void normalise() const;
  /// Puts the package in its place. A package that was there is replaced whole.
  void publish() const;

 private:
  std::filesystem::path destination_;
  TemporaryDirectory temporary_;
  std::filesystem::path directory_;
};

}  // namespace teeny::tool
