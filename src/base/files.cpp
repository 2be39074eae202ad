#include "teeny/base/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny {

using detail::Descriptor;
using detail::reason;

namespace {

Error cannot(std::string_view verb, const fs::path& path, int code) {
  return Error(ErrorKind::environment,
               "cannot " + std::string(verb) + " " + path.string() + ": " + reason(code));
}

int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept {
  for (;;) {
    const int descriptor = ::open(path, flags | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

std::string read_all(const Descriptor& file, const fs::path& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw cannot("read", path, errno);
  std::string bytes;
  // The size is only a hint (files under /proc say 0); the read that returns nothing is the end.
  std::size_t used = 0;
  bytes.resize(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1);
  for (;;) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2 + 4096);
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw cannot("read", path, errno);
    }
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

// Names no other process or thread picks; collisions are still caught by O_EXCL.
std::string private_suffix() {
  static thread_local std::random_device entropy;
  std::array<char, 48> text{};
  const auto high = static_cast<unsigned>(entropy());
  const auto low = static_cast<unsigned>(entropy());
  const int length = std::snprintf(text.data(), text.size(), "%ld-%08x%08x",
                                   static_cast<long>(::getpid()), high, low);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      throw cannot("write", path, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Removes a file on the way out unless it was published.
class Unpublished {
 public:
  explicit Unpublished(fs::path path) : path_(std::move(path)) {}
  ~Unpublished() {
    if (!published_) ::unlink(path_.c_str());
  }
  Unpublished(const Unpublished&) = delete;
  Unpublished& operator=(const Unpublished&) = delete;
  void publish_as(const fs::path& final_path) {
    if (::rename(path_.c_str(), final_path.c_str()) != 0) throw cannot("write", final_path, errno);
    published_ = true;
  }

 private:
  fs::path path_;
  bool published_ = false;
};

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(open_retrying(path.c_str(), O_RDONLY));
  if (!file.open()) throw cannot("read", path, errno);
  return read_all(file, path);
}

std::optional<std::string> read_file_if_exists(const fs::path& path) {
  const Descriptor file(open_retrying(path.c_str(), O_RDONLY));
  if (!file.open()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw cannot("read", path, errno);
  }
  return read_all(file, path);
}

void write_file(const fs::path& path, std::string_view bytes, unsigned mode) {
  Descriptor file;
  fs::path private_path;
  do {
    private_path = path.parent_path() / (".teeny-" + private_suffix());
    file = Descriptor(open_retrying(private_path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  } while (!file.open() && errno == EEXIST);
  if (!file.open()) throw cannot("write", path, errno);
  Unpublished guard(private_path);
  write_all(file.get(), bytes, path);
  if (::fchmod(file.get(), static_cast<mode_t>(mode)) != 0) throw cannot("write", path, errno);
  if (::fsync(file.get()) != 0 && errno != EINVAL) throw cannot("write", path, errno);
  // close() is where some file systems report that the bytes did not arrive after all.
  if (::close(file.release()) != 0 && errno != EINTR) throw cannot("write", path, errno);
  guard.publish_as(path);
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix, const fs::path& parent) {
  fs::path base = parent;
  if (base.empty()) {
    const char* configured = std::getenv("TMPDIR");
    base = configured != nullptr && *configured != '\0' ? configured : "/tmp";
  }
  // Absolute, so that a later change of directory does not lose it.
  std::string pattern = (fs::absolute(base) / (std::string(prefix) + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorKind::environment,
                "cannot create a temporary directory in " + base.string() + ": " + reason(errno),
                "set TMPDIR to a directory that can be written");
  }
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code failure;
  fs::remove_all(path_, failure);
  if (!failure) return;
  // A directory without write permission keeps its entries: open them all and try once more.
  std::error_code ignored;
  fs::permissions(path_, fs::perms::owner_all, fs::perm_options::add, ignored);
  for (auto at = fs::recursive_directory_iterator(path_, ignored);
       !ignored && at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    std::error_code of_entry;
    if (at->is_directory(of_entry) && !at->is_symlink(of_entry)) {
      fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, of_entry);
    }
  }
  fs::remove_all(path_, failure);
}

FileLock::FileLock(const fs::path& path, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::chrono::milliseconds pause{1};
  for (;;) {
    Descriptor file(open_retrying(path.c_str(), O_RDWR | O_CREAT, 0666));
    if (!file.open()) throw cannot("lock", path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      // Whoever clears the directory may have removed the file meanwhile: a lock on a file that no
      // longer has its name excludes nobody.
      struct stat held{};
      struct stat named{};
      if (::fstat(file.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
          held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
        std::array<char, 256> host{};
        if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
        const std::string owner =
            "process " + std::to_string(::getpid()) + " on " + std::string(host.data()) + "\n";
        // The note is a courtesy to those who wait; a full disk must not cost the lock.
        if (::ftruncate(file.get(), 0) == 0) {
          [[maybe_unused]] const auto written = ::pwrite(file.get(), owner.data(), owner.size(), 0);
        }
        descriptor_ = file.release();
        return;
      }
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) throw cannot("lock", path, errno);
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) {
      std::string owner = read_file_if_exists(path).value_or("");
      owner.erase(std::find(owner.begin(), owner.end(), '\n'), owner.end());
      throw Error(ErrorKind::environment,
                  "cannot lock " + path.string() + " within " + std::to_string(patience.count()) +
                      " ms: it is held by " + (owner.empty() ? "an unnamed process" : owner),
                  "wait for that process to finish, or end it");
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
    std::this_thread::sleep_for(std::max(std::min(pause, left), std::chrono::milliseconds{1}));
    pause = std::min(pause * 2, std::chrono::milliseconds{50});
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  [[maybe_unused]] const auto emptied = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

fs::path executable_path() {
  std::error_code failure;
  const auto path = fs::read_symlink("/proc/self/exe", failure);
  if (failure) {
    throw Error(ErrorKind::environment,
                "cannot find the running executable: /proc/self/exe: " + failure.message(),
                "mount /proc");
  }
  return path;
}

}  // namespace teeny
