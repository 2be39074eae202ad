#include "teeny/cache/location.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/package.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

constexpr const char* variable_name = "TEENYC_CACHE_DIR";

bool has_directory(const fs::path& path) {
  std::error_code failure;
  return fs::is_directory(path, failure);
}

// Absent, or a directory (not a link to one) that belongs to `user` and that nobody else may write
// to. /tmp is everybody's: what another user put there could hold any code.
bool free_or_own(const fs::path& path, unsigned user) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return errno == ENOENT;
  return S_ISDIR(status.st_mode) && status.st_uid == user && (status.st_mode & 022) == 0;
}

}  // namespace

CacheSurroundings CacheSurroundings::of_this_process() {
  CacheSurroundings surroundings{executable_path()};
  if (const char* value = std::getenv(variable_name)) surroundings.variable = value;
  surroundings.user = ::geteuid();
  return surroundings;
}

fs::path directory_path(const fs::path& name) {
  fs::path path;
  for (const fs::path& part : fs::absolute(name)) {
    if (!part.empty() && part != ".") path /= part;
  }
  return path;
}

std::optional<fs::path> cache_beside(const fs::path& executable) {
  const fs::path directory = executable.parent_path();
  const fs::path above = directory.parent_path() / "cache";
  if (has_directory(above)) return above;
  const fs::path inside = directory / "cache";
  if (has_directory(inside)) return inside;
  return std::nullopt;
}

fs::path default_cache_dir(const CacheSurroundings& surroundings) {
  if (auto beside = cache_beside(surroundings.executable)) return *beside;
  if (surroundings.variable && !surroundings.variable->empty()) {
    return directory_path(*surroundings.variable);
  }
  const fs::path shared = surroundings.temporary / "teenyc_cache";
  if (free_or_own(shared, surroundings.user)) return shared;
  fs::path own = shared;
  own += "-" + std::to_string(surroundings.user);
  if (free_or_own(own, surroundings.user)) return own;
  throw Error(ErrorKind::environment,
              "wanted a cache directory of our own, found " + shared.string() + " and " +
                  own.string() + " in other hands (or writable by others)",
              std::string("set ") + variable_name + " to a directory that is yours");
}

fs::path default_cache_dir() { return default_cache_dir(CacheSurroundings::of_this_process()); }

std::optional<fs::path> package_root(const fs::path& executable) {
  std::error_code failure;
  fs::path root = executable.parent_path().parent_path();
  if (!fs::is_regular_file(root / PackageContents::path, failure)) return std::nullopt;
  return root;
}

}  // namespace teeny
