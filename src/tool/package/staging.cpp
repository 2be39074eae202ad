#include "tool/package/staging.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <stdio.h>  // renameat2, RENAME_EXCHANGE

#include "tool/package/manifest.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

fs::path prepared(const fs::path& destination) {
  std::error_code error;
  const auto status = fs::symlink_status(destination, error);
  const bool there = fs::exists(status);
  const bool empty_directory = there && fs::is_directory(status) && fs::is_empty(destination);
  if (there && !empty_directory && !fs::is_regular_file(destination / Manifest::path)) {
    throw Error(ErrorKind::usage,
                "--dest " + destination.string() + " is there and is no package of teeny",
                "name a directory that does not exist, or an earlier package");
  }
  const fs::path parent = destination.parent_path();
  fs::create_directories(parent, error);
  if (error) {
    throw Error(ErrorKind::environment,
                "cannot create " + parent.string() + ": " + error.message());
  }
  return parent;
}

}  // namespace

Staging::Staging(fs::path destination)
    : destination_(std::move(destination)),
      temporary_(".teeny-package", prepared(destination_)),
      directory_(temporary_.path() / "package") {
  for (const char* part : {"bin", "cache", "conf", "data"}) {
    fs::create_directories(directory_ / part);
  }
}

void Staging::normalise() const {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::recursive_directory_iterator(directory_ / "cache")) {
    if (entry.path().filename().string().front() == '.') leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) fs::remove_all(path);
  constexpr auto read_all = static_cast<fs::perms>(0644);
  constexpr auto run_all = static_cast<fs::perms>(0755);
  fs::permissions(directory_, run_all);
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
    const bool program = entry.path().parent_path() == directory_ / "bin";
    fs::permissions(entry.path(), entry.is_directory() || program ? run_all : read_all);
  }
}

void Staging::publish() const {
  const auto fail = [this](int code) {
    throw Error(ErrorKind::environment,
                "cannot put the package at " + destination_.string() + ": " + std::strerror(code));
  };
  const char* from = directory_.c_str();
  const char* to = destination_.c_str();
  if (::rename(from, to) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) fail(errno);
  // Exchanged in one step: whoever looks sees the old package or the new one, whole.
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(errno);
  const fs::path old = temporary_.path() / "old";
  if (::rename(to, old.c_str()) != 0 || ::rename(from, to) != 0) fail(errno);
}

}  // namespace teeny::tool
