#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "compiler_timeout.hpp"
#include "publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/choose.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/ir/fingerprint.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

// Pools live as long as the process: the second kernel finds a warm teenyc.
CompilerPool& shared_pool(const CompilerLocation& location) {
  static std::mutex mutex;
  static std::map<std::pair<fs::path, std::string>, std::unique_ptr<CompilerPool>> pools;
  const std::lock_guard lock(mutex);
  auto& pool = pools[{location.program, location.identity}];
  if (!pool) pool = std::make_unique<CompilerPool>(location);
  return *pool;
}

// Whether an artifact was asked for as `target` is. It records the PTX version that was taken.
bool made_for(const ArtifactInfo& info, const Target& target) {
  Target recorded = Target::parse_canonical(info.target);
  if (recorded.is_cuda() && target.is_cuda() && !target.cuda().ptx_version) {
    recorded.cuda().ptx_version.reset();
  }
  return recorded.canonical() == target.canonical();
}

// What another teenyc or another assembler made for this very target is left alone, and said to be
// old: it is never taken for what this one would make.
void note_stale(const Cache& cache, const std::string& kernel, const std::string& fingerprint,
                const Target& target, const std::string& identity, const std::string& assembler) {
  for (const fs::path& path : cache.list(kernel, fingerprint)) {
    try {
      const ArtifactInfo info = detail::read_artifact(path).info;
      if (info.assembler.empty() != assembler.empty() || !made_for(info, target)) continue;
      const bool other_compiler = info.compiler != identity;
      if (!other_compiler && info.assembler == assembler) continue;
      log(LogLevel::notice,
          "kernel " + kernel + ": " + path.filename().string() + " is stale: it was made by " +
              (other_compiler ? "teenyc " + info.compiler.substr(0, 12) : info.assembler) +
              ", this one is " + (other_compiler ? "teenyc " + identity.substr(0, 12) : assembler) +
              ", which makes it anew");
    } catch (const Error& error) {
      log(LogLevel::debug, error.message());
    }
  }
}

// Without a compiler: what is there for exactly this target's device, whoever compiled it.
fs::path find_compiled(const Cache& cache, const ir::Kernel& kernel, const std::string& fingerprint,
                       const Target& target) {
  std::vector<fs::path> candidates;
  for (const fs::path& path : cache.list(kernel.name, fingerprint)) {
    const ArtifactInfo info = detail::read_artifact(path).info;
    const bool same =
        target.is_cpu()
            ? info.kind == ArtifactKind::shared_object
            : info.kind == ArtifactKind::ptx && info.capability == target.cuda().capability &&
                  (!target.cuda().ptx_version || info.ptx_version == target.cuda().ptx_version);
    if (same) candidates.push_back(path);
  }
  const std::string where = cache.directory().string();
  if (target.is_cpu()) {
    return cache.path_of(choose_for_cpu(kernel.name, candidates, where, target.cpu()).info);
  }
  if (candidates.empty()) {
    throw Error(ErrorKind::input,
                "no code for kernel " + kernel.name + ": wanted code for " + target.canonical() +
                    ", found none in " + where + ", and no teenyc to make it",
                "compile it ahead of time, or let the program find teenyc (TEENYC_PATH)");
  }
  return candidates.back();
}

// What a caller wants to know besides the path.
struct Outcome {
  fs::path path;
  bool hit = false;
};

template <class Make>
Outcome find_or_make(const Cache& cache, const std::string& kernel, const std::string& fingerprint,
                     const Target& target, const std::string& key, bool force, const Make& make) {
  const auto look = [&] { return cache.find(kernel, fingerprint, target, key); };
  if (!force) {
    if (const auto found = look()) return {cache.path_of(found->info), true};
  }
  detail::make_cache_directory(cache.directory());
  const fs::path directory = cache.directory() / (kernel + "-" + fingerprint);
  detail::make_shared_directory(directory);
  const detail::CacheLock lock(directory / ("." + key + ".lock"),
                               detail::compiler_timeout() + std::chrono::seconds(10));
  if (!force) {
    // Whoever held the lock before us may have made it.
    if (const auto found = look()) return {cache.path_of(found->info), true};
  }
  return {cache.publish(make()), false};
}

class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

fs::path tell(Outcome outcome, const Stopwatch& watch, bool* hit, double* milliseconds) {
  if (hit != nullptr) *hit = outcome.hit;
  if (milliseconds != nullptr) *milliseconds = watch.milliseconds();
  return std::move(outcome.path);
}

}  // namespace

fs::path compile_to_cache(CompilerPool& pool, const ir::Kernel& kernel,
                          const std::string& fingerprint, const Target& target, bool force,
                          const fs::path& cache_directory, bool* hit, double* milliseconds) {
  const Stopwatch watch;
  const Cache cache(cache_directory);
  const std::string key = artifact_key(fingerprint, target, pool.location().identity, {});
  Outcome outcome = find_or_make(cache, kernel.name, fingerprint, target, key, force, [&] {
    note_stale(cache, kernel.name, fingerprint, target, pool.location().identity, {});
    Artifact artifact = pool.compile(kernel, fingerprint, target);
    cache.publish_ir(kernel, fingerprint);
    return artifact;
  });
  return tell(std::move(outcome), watch, hit, milliseconds);
}

fs::path assemble_to_cache(CompilerPool& pool, const Assembler& assembler, const fs::path& ptx,
                           const Target& target, bool force, const fs::path& cache_directory,
                           bool* hit, double* milliseconds) {
  const Stopwatch watch;
  const Cache cache(cache_directory);
  const Artifact source = detail::read_artifact(ptx);
  const std::string& kernel = source.info.kernel;
  const std::string& fingerprint = source.info.fingerprint;
  const std::string name = assembler_name(assembler.version);
  const std::string key = artifact_key(fingerprint, target, pool.location().identity, name);
  Outcome outcome = find_or_make(cache, kernel, fingerprint, target, key, force, [&] {
    note_stale(cache, kernel, fingerprint, target, pool.location().identity, name);
    Artifact artifact = pool.assemble(source, assembler.program, assembler.version);
    artifact.info.key = key;
    return artifact;
  });
  return tell(std::move(outcome), watch, hit, milliseconds);
}

fs::path compile_to_cache(const ir::Kernel& kernel, const Target& target, bool force,
                          const fs::path& cache_directory, bool* hit, double* milliseconds) {
  const std::string fingerprint = ir::fingerprint(kernel);
  const auto compiler = find_compiler();
  if (!compiler) {
    if (force) {
      throw Error(ErrorKind::environment,
                  "wanted teenyc to compile kernel " + kernel.name + ", found none",
                  "let TEENYC_PATH name it");
    }
    fs::path path = find_compiled(Cache(cache_directory), kernel, fingerprint, target);
    if (hit != nullptr) *hit = true;
    if (milliseconds != nullptr) *milliseconds = 0;
    return path;
  }
  return compile_to_cache(shared_pool(*compiler), kernel, fingerprint, target, force,
                          cache_directory, hit, milliseconds);
}

}  // namespace teeny
