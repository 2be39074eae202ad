#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "teeny/base/files.hpp"

namespace teeny::tool {

/// A private directory for the socket of a shared connection, with a lock that says that its owner
/// lives. It is removed at the end; one whose owner was killed is removed by the next that is made.
class ConnectionDirectory {
 public:
  ConnectionDirectory();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  std::optional<FileLock> alive_;
};

/// Removes the directories of killed owners below `parent`: this user's own, `age` or older, whose
/// lock nobody holds. Returns how many. What cannot be removed is left.
std::size_t sweep_connection_directories(const std::filesystem::path& parent,
                                         std::chrono::seconds age);

}  // namespace teeny::tool
