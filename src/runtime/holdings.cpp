#include "holdings.hpp"

#include <algorithm>
#include <utility>

#include "cache/publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

HeldArtifact look_at(const fs::path& cache, const std::string& name) {
  HeldArtifact held{cache / name, name};
  try {
    std::error_code failure;
    held.bytes = fs::file_size(held.path, failure);
    if (failure) {
      held.bytes = 0;
      held.problem = failure == std::errc::no_such_file_or_directory
                         ? held.path.string() + ": missing"
                         : held.path.string() + ": " + failure.message();
      return held;
    }
    held.artifact = read_artifact(held.path);
  } catch (const Error& error) {
    held.problem = error.message();
  }
  return held;
}

Holding holding_of(const KernelInstance& instance, const KernelSources& sources) {
  Holding holding{&instance};
  try {
    holding.traced = trace(instance);
  } catch (const Error& error) {
    holding.trace_problem = error.message();
  }
  if (sources.records && instance.nameable) {
    holding.record = sources.records->find(instance.record_key());
  }
  std::vector<std::string> names;
  if (holding.record != nullptr) {
    names = holding.record->artifacts;
  } else if (holding.traced) {
    for (const fs::path& path :
         Cache(sources.cache).list(instance.name, holding.traced->fingerprint)) {
      names.push_back(path.lexically_relative(sources.cache).generic_string());
    }
  }
  for (const std::string& name : names) holding.artifacts.push_back(look_at(sources.cache, name));
  return holding;
}

// Two types of unnamed namespaces may have one name, and one meaning.
bool is_again(const Holding& one, const Holding& next) {
  return one.traced && next.traced && one.traced->fingerprint == next.traced->fingerprint &&
         one.instance->record_key() == next.instance->record_key();
}

}  // namespace

std::vector<Holding> holdings(const KernelSources& sources) {
  std::vector<Holding> all;
  for (const KernelInstance* instance : Registry::instance().kernels()) {
    Holding holding = holding_of(*instance, sources);
    const bool again = std::any_of(all.begin(), all.end(),
                                   [&](const Holding& one) { return is_again(one, holding); });
    if (!again) all.push_back(std::move(holding));
  }
  return all;
}

DeviceKind device_kind(const ArtifactInfo& info) {
  return info.kind == ArtifactKind::shared_object ? DeviceKind::cpu : DeviceKind::cuda;
}

std::string to_string(DeviceKind kind) { return kind == DeviceKind::cuda ? "cuda" : "cpu"; }

}  // namespace teeny::detail
