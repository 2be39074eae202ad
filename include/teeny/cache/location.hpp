#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace teeny {

/// What decides where kernels are looked for; a value, so that each step can be tested.
struct CacheSurroundings {
  std::filesystem::path executable;          ///< with all links resolved
  std::optional<std::string> variable = {};  ///< TEENYC_CACHE_DIR; empty counts as absent
  std::filesystem::path temporary = "/tmp";
  unsigned user = 0;

  [[nodiscard]] static CacheSurroundings of_this_process();
};

/// The absolute form of a directory's name, without "." and without a slash at its end. ".." stays:
/// what it leads to depends on links.
[[nodiscard]] std::filesystem::path directory_path(const std::filesystem::path& name);

/// `<dir of the executable>/../cache` if it is a directory, else `<dir>/cache` if that is one;
/// nullopt for a program that has no cache beside it (any development build).
[[nodiscard]] std::optional<std::filesystem::path> cache_beside(
    const std::filesystem::path& executable);

/// The whole order: beside the executable, then TEENYC_CACHE_DIR, then `<temporary>/teenyc_cache`
/// where that is absent or this user's own directory, else `<temporary>/teenyc_cache-<user>`.
/// Nothing is created. Error(environment) when even the last one is somebody else's.
[[nodiscard]] std::filesystem::path default_cache_dir(const CacheSurroundings& surroundings);

/// The package that `executable` is `bin/NAME` of, that is, the directory above with a
/// `conf/manifest.json`: then its cache is closed, and nothing is ever compiled into it. nullopt
/// for any other program.
[[nodiscard]] std::optional<std::filesystem::path> package_root(
    const std::filesystem::path& executable);

}  // namespace teeny
