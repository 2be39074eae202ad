#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include <unistd.h>

#include "compiler_timeout.hpp"
#include "publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
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

// The lock of one artifact. Its file goes away with it, so that a cache holds nothing but code;
// FileLock knows that a lock on a file without its name holds nothing.
class KeyLock {
 public:
  KeyLock(fs::path path, std::chrono::milliseconds patience)
      : path_(std::move(path)), lock_(path_, patience) {}
  ~KeyLock() { ::unlink(path_.c_str()); }
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

 private:
  fs::path path_;
  FileLock lock_;
};

// Without a compiler: what is there for exactly this target's device, whoever compiled it.
fs::path find_compiled(const Cache& cache, const ir::Kernel& kernel, const std::string& fingerprint,
                       const Target& target) {
  std::vector<fs::path> candidates;
  for (const fs::path& path : cache.list(kernel.name, fingerprint)) {
    const ArtifactInfo info = detail::read_artifact(path).info;
    const bool same = target.is_cpu()
                          ? info.kind == ArtifactKind::shared_object
                          : info.capability == target.cuda().capability &&
                                (!target.cuda().ptx_version || info.kind == ArtifactKind::cubin ||
                                 info.ptx_version == target.cuda().ptx_version);
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

}  // namespace

fs::path compile_to_cache(CompilerPool& pool, const ir::Kernel& kernel,
                          const std::string& fingerprint, const Target& target, bool force,
                          const fs::path& cache_directory, bool* hit, double* milliseconds) {
  const auto began = std::chrono::steady_clock::now();
  const Cache cache(cache_directory);
  const auto done = [&](bool was_hit, fs::path path) {
    if (hit != nullptr) *hit = was_hit;
    if (milliseconds != nullptr) {
      *milliseconds =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
              .count();
    }
    return path;
  };
  // No assembler yet enters the key: PTX and CPU code are made by teenyc alone.
  const std::string key = artifact_key(fingerprint, target, pool.location().identity, {});
  const auto look = [&] { return cache.find(kernel.name, fingerprint, target, key); };
  if (!force) {
    if (const auto found = look()) return done(true, cache.path_of(found->info));
  }
  detail::make_cache_directory(cache_directory);
  const fs::path directory = cache_directory / (kernel.name + "-" + fingerprint);
  detail::make_shared_directory(directory);
  const KeyLock lock(directory / ("." + key + ".lock"),
                     detail::compiler_timeout() + std::chrono::seconds(10));
  if (!force) {
    // Whoever held the lock before us may have made it.
    if (const auto found = look()) return done(true, cache.path_of(found->info));
  }
  const Artifact artifact = pool.compile(kernel, fingerprint, target);
  cache.publish_ir(kernel, fingerprint);
  return done(false, cache.publish(artifact));
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
