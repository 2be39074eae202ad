#include "context.hpp"

#include <mutex>

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
  const bool beside = cache_beside(executable) == found.cache;
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
  chosen_directory = fs::absolute(directory).lexically_normal();
  sources.reset();
}

std::string program_name() { return executable_path().filename().string(); }

}  // namespace teeny::detail
