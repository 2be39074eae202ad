#include "resolve.hpp"

#include <array>
#include <cstdio>
#include <system_error>

#include "context.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/kernel.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

std::string milliseconds_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms", value);
  return text.data();
}

FoundCode find_by_record(const KernelInstance& instance, const KernelRecord& record,
                         const Backend& backend, const fs::path& cache) {
  std::vector<fs::path> candidates;
  std::string gone;
  for (const std::string& name : record.artifacts) {
    const fs::path path = cache / name;
    std::error_code failure;
    if (fs::exists(path, failure)) {
      candidates.push_back(path);
    } else {
      gone += (gone.empty() ? "" : ", ") + name;
    }
  }
  std::string where = cache.string();
  if (!gone.empty()) where += " (where " + gone + " is gone)";
  Artifact artifact = backend.choose(instance.name, candidates, where);
  if (artifact.info.fingerprint != record.fingerprint) {
    throw Error(ErrorKind::input,
                "kernel " + instance.name + ": wanted code of fingerprint " + record.fingerprint +
                    ", as this program's record says, found " + artifact.info.fingerprint,
                "package the program again");
  }
  fs::path path = Cache(cache).path_of(artifact.info);
  return {std::move(artifact), std::move(path)};
}

FoundCode find_or_compile(const ir::Kernel& kernel, const std::string& fingerprint,
                          const Backend& backend, const KernelSources& sources) {
  const Target target = backend.compile_target();
  const Cache cache(sources.cache);
  const std::string key = artifact_key(fingerprint, target, sources.compiler->identity, {});
  auto artifact = cache.find(kernel.name, fingerprint, target, key);
  if (!artifact) {
    const std::string what = "kernel " + kernel.name + " for " + backend.name() + " (" +
                             (target.is_cpu() ? target.cpu().cpu : target.short_name()) + ")";
    log(LogLevel::notice,
        "compiling " + what + ", which " + sources.cache.string() + " does not hold");
    double took = 0;
    bool hit = false;
    const fs::path path = compile_to_cache(kernel, target, false, sources.cache, &hit, &took);
    log(LogLevel::notice, (hit ? "another process compiled " : "compiled ") + what + " in " +
                              milliseconds_text(took));
    artifact = Artifact::unpack(read_file(path), path);
  }
  fs::path path = cache.path_of(artifact->info);
  return {std::move(*artifact), std::move(path)};
}

}  // namespace

void check_callable(const KernelInstance& instance, const ArtifactInfo& info,
                    const fs::path& path) {
  if (info.launch_abi != ir::launch_abi) {
    throw Error(ErrorKind::input,
                path.string() + ": wanted code of launch ABI " + std::to_string(ir::launch_abi) +
                    ", found " + std::to_string(info.launch_abi),
                "compile it with the teeny that this program was built with");
  }
  std::vector<std::string> wanted;
  for (const ir::Type& type : instance.signature) wanted.push_back(ir::to_string(type));
  if (wanted == info.parameters) return;
  const auto list = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "(" : ", ") + word;
    return words.empty() ? std::string("()") : text + ")";
  };
  throw Error(ErrorKind::input,
              "kernel " + instance.name + ": wanted code with parameters " + list(wanted) +
                  ", found " + list(info.parameters) + " in " + path.string(),
              "compile the program's kernels again");
}

FoundCode find_code(const KernelInstance& instance, const Backend& backend) {
  const auto sources = kernel_sources();
  const KernelRecord* record = sources->records && instance.nameable
                                   ? sources->records->find(instance.record_key())
                                   : nullptr;
  FoundCode code = [&]() -> FoundCode {
    if (record != nullptr) return find_by_record(instance, *record, backend, sources->cache);
    const ir::Kernel kernel = instance.trace();
    const std::string fingerprint = ir::fingerprint(kernel);
    if (sources->compiler) return find_or_compile(kernel, fingerprint, backend, *sources);
    const Cache cache(sources->cache);
    Artifact artifact =
        backend.choose(kernel.name, cache.list(kernel.name, fingerprint),
                       (sources->cache / (kernel.name + "-" + fingerprint)).string());
    fs::path path = cache.path_of(artifact.info);
    return {std::move(artifact), std::move(path)};
  }();
  check_callable(instance, code.artifact.info, code.path);
  return code;
}

}  // namespace teeny::detail
