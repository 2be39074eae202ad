#include "tool/transport/connection_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* prefix = "teeny-ssh-";
constexpr const char* lock_name = "owner";
// Between making its directory and locking it, an owner looks dead.
constexpr std::chrono::seconds settled{60};

bool is_old_and_ours(const fs::path& path, std::chrono::seconds age) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  if (found.st_uid != ::geteuid()) return false;
  const auto changed = std::chrono::system_clock::from_time_t(found.st_mtim.tv_sec);
  return std::chrono::system_clock::now() - changed >= age;
}

bool owner_lives(const fs::path& path) {
  std::error_code ignored;
  // One that was killed before it came to its lock has none.
  if (!fs::exists(path / lock_name, ignored)) return false;
  try {
    const FileLock lock(path / lock_name, std::chrono::milliseconds(0));
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

ConnectionDirectory::ConnectionDirectory() : directory_(prefix) {
  alive_.emplace(path() / lock_name, std::chrono::seconds(1));
  sweep_connection_directories(path().parent_path(), settled);
}

std::size_t sweep_connection_directories(const fs::path& parent, std::chrono::seconds age) {
  std::size_t removed = 0;
  std::error_code failure;
  for (fs::directory_iterator entry(parent, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const fs::path& path = entry->path();
    if (path.filename().string().rfind(prefix, 0) != 0) continue;
    if (!is_old_and_ours(path, age) || owner_lives(path)) continue;
    std::error_code kept;
    fs::remove_all(path, kept);
    if (!kept) ++removed;
  }
  return removed;
}

}  // namespace teeny::tool
