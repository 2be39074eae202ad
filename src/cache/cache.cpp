#include "teeny/cache/cache.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

constexpr std::string_view ir_file = "kernel.tir";

std::string directory_name(std::string_view kernel, std::string_view fingerprint) {
  return std::string(kernel) + "-" + std::string(fingerprint);
}

std::string file_name(std::string_view short_target, std::string_view key, ArtifactKind kind) {
  return std::string(short_target) + "." + std::string(key) + "." + std::string(extension(kind));
}

std::string short_target(const ArtifactInfo& info) {
  return info.kind == ArtifactKind::shared_object || !info.capability ? "cpu"
                                                                      : info.capability->name();
}

bool is_artifact(const fs::path& path) {
  const std::string extension_text = path.extension().string();
  // A name that begins with a dot is a lock, or a file that is still being written.
  if (path.filename().string().front() == '.') return false;
  return extension_text == ".ptx" || extension_text == ".cubin" || extension_text == ".so";
}

Error cannot_make(const fs::path& path, int code) {
  return Error(
      ErrorKind::environment,
      "cannot create the directory " + path.string() + ": " + std::generic_category().message(code),
      "name another cache directory with TEENYC_CACHE_DIR, or make this one writable");
}

void make_directory(const fs::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return;
  throw cannot_make(path, errno);
}

// The permissions of a cache that its owner opened to a group (or to all); nullopt for any other.
// What we add to such a cache must be as open as it is, whatever our umask, or the others could not
// use it.
std::optional<mode_t> shared_mode(const fs::path& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) return std::nullopt;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return std::nullopt;
  return status.st_mode & 07777;
}

}  // namespace

namespace detail {

void make_cache_directory(const fs::path& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return;
    throw cannot_make(directory, ENOTDIR);
  }
  // The default cache lies in /tmp, among everybody's files: it is for its user alone.
  const bool in_temporary = directory.parent_path() == "/tmp";
  if (!in_temporary) {
    std::error_code failure;
    fs::create_directories(directory.parent_path(), failure);
    if (failure) throw cannot_make(directory.parent_path(), failure.value());
  }
  make_directory(directory, in_temporary ? 0700 : 0777);
}

void make_shared_directory(const fs::path& directory) {
  const auto shared = shared_mode(directory.parent_path());
  if (::mkdir(directory.c_str(), 0777) != 0) {
    if (errno == EEXIST) return;
    throw cannot_make(directory, errno);
  }
  // Left as it is where that fails: it is a cache, and ours.
  if (shared) static_cast<void>(::chmod(directory.c_str(), *shared));
}

CacheLock::~CacheLock() { ::unlink(path_.c_str()); }

unsigned file_mode(const fs::path& directory) {
  const auto shared = shared_mode(directory);
  return shared ? *shared & 0666 : 0644;
}

Artifact read_artifact(const fs::path& path) {
  Artifact artifact = Artifact::unpack(read_file(path), path);
  const std::string wanted =
      file_name(short_target(artifact.info), artifact.info.key, artifact.info.kind);
  if (path.filename() != wanted) {
    throw Error(ErrorKind::input,
                path.string() + ": holds the artifact " + wanted +
                    ", so the file was renamed or copied over another",
                "remove the file and compile the kernel again, or copy it again");
  }
  return artifact;
}

}  // namespace detail

Cache::Cache(fs::path directory) : directory_(std::move(directory)) {}

fs::path Cache::path_of(const ArtifactInfo& info) const {
  return directory_ / directory_name(info.kernel, info.fingerprint) /
         file_name(short_target(info), info.key, info.kind);
}

std::optional<Artifact> Cache::find(std::string_view kernel, std::string_view fingerprint,
                                    const Target& target, std::string_view key) const {
  const fs::path directory = directory_ / directory_name(kernel, fingerprint);
  const auto kinds = target.is_cpu()
                         ? std::vector<ArtifactKind>{ArtifactKind::shared_object}
                         : std::vector<ArtifactKind>{ArtifactKind::cubin, ArtifactKind::ptx};
  for (const ArtifactKind kind : kinds) {
    const fs::path path = directory / file_name(target.short_name(), key, kind);
    auto bytes = read_file_if_exists(path);
    if (!bytes) continue;
    Artifact artifact = Artifact::unpack(std::move(*bytes), path);
    if (artifact.info.kernel != kernel || artifact.info.fingerprint != fingerprint ||
        artifact.info.key != key) {
      throw Error(ErrorKind::input,
                  path.string() + ": wanted kernel " + std::string(kernel) + " with key " +
                      std::string(key) + ", found " + artifact.info.kernel + " with key " +
                      artifact.info.key,
                  "remove the file and compile the kernel again");
    }
    return artifact;
  }
  return std::nullopt;
}

std::vector<fs::path> Cache::list(std::string_view kernel, std::string_view fingerprint) const {
  std::vector<fs::path> paths;
  const fs::path directory = directory_ / directory_name(kernel, fingerprint);
  std::error_code failure;
  for (fs::directory_iterator at(directory, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (is_artifact(at->path())) paths.push_back(at->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory &&
      failure != std::errc::not_a_directory) {
    throw Error(ErrorKind::environment,
                "cannot read " + directory.string() + ": " + failure.message(),
                "make it readable to this user");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

fs::path Cache::publish(const Artifact& artifact) const {
  detail::make_cache_directory(directory_);
  fs::path path = path_of(artifact.info);
  detail::make_shared_directory(path.parent_path());
  write_file(path, artifact.pack(), detail::file_mode(path.parent_path()));
  return path;
}

void Cache::publish_ir(const ir::Kernel& kernel, std::string_view fingerprint) const {
  detail::make_cache_directory(directory_);
  const fs::path directory = directory_ / directory_name(kernel.name, fingerprint);
  detail::make_shared_directory(directory);
  const fs::path path = directory / std::string(ir_file);
  // One fingerprint, one meaning: whichever text came first is as good as ours.
  std::error_code failure;
  if (fs::exists(path, failure)) return;
  write_file(path, ir::print(kernel), detail::file_mode(directory));
}

}  // namespace teeny
