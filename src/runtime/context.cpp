#include "context.hpp"

#include <algorithm>
#include <mutex>
#include <system_error>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/location.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

std::mutex mutex;
std::optional<fs::path> chosen_directory;
std::shared_ptr<const KernelSources> sources;

fs::path directory_locked() { return chosen_directory ? *chosen_directory : default_cache_dir(); }

KernelSources find_sources() {
  const fs::path executable = executable_path();
  KernelSources found{directory_locked()};
  const auto own = cache_beside(executable);
  std::error_code unequal;  // by another name, or a link, it is the same cache
  const bool beside = own && (*own == found.cache || fs::equivalent(*own, found.cache, unequal));
  const bool packaged = beside && package_root(executable).has_value();
  if (!packaged) found.compiler = find_compiler();
  if (beside && !found.compiler) found.records = ProgramRecords::read(found.cache, program_name());
  return found;
}

}  // namespace

std::shared_ptr<const KernelSources> kernel_sources() {
  const std::lock_guard lock(mutex);
  if (!sources) sources = std::make_shared<const KernelSources>(find_sources());
  return sources;
}

fs::path cache_directory() {
  const std::lock_guard lock(mutex);
  return directory_locked();
}

void set_cache_directory(const fs::path& directory) {
  const std::lock_guard lock(mutex);
  chosen_directory = directory_path(directory);
  sources.reset();
}

void refuse_closed_cache(const fs::path& directory) {
  const auto root = package_root(executable_path());
  if (!root) return;
  std::error_code failure;
  const fs::path place = fs::weakly_canonical(directory, failure);
  const auto [end, rest] = std::mismatch(root->begin(), root->end(), place.begin(), place.end());
  if (failure || end != root->end()) return;
  throw Error(ErrorKind::usage,
              "--device: wanted a cache to compile into, found " + directory.string() +
                  ", which belongs to the package " + root->string() + " and is closed",
              "name another directory with --cache-dir, or make the package again (teeny package)");
}

std::string program_name() { return executable_path().filename().string(); }

}  // namespace teeny::detail
