#include "tool/container/container.hpp"

#include <algorithm>
#include <set>

#include <unistd.h>

#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

bool is_below(const fs::path& path, const fs::path& directory) {
  const auto [end, rest] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end();
}

// PREFIX of PREFIX/lib/cmake/NAME/file and its like; else the directory of the file.
fs::path package_of(const fs::path& file) {
  for (fs::path at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() != "cmake") continue;
    const fs::path above = at.parent_path();
    const std::string name = above.filename().string();
    if (name == "lib" || name == "lib64" || name == "share") return above.parent_path();
  }
  return file.parent_path();
}

}  // namespace

std::string toolchain_image() { return "localhost/teeny-toolchain:" TEENY_VERSION; }

Container::Container(const std::string& engine) : engine_(engine) {
  if (engine_ == "any") {
    engine_ = find_program("podman") ? "podman" : "docker";
  } else if (engine_ != "podman" && engine_ != "docker") {
    throw Error(ErrorKind::usage, "--container " + engine_ + ": wanted podman or docker",
                "leave the name out to take the one that is there");
  }
  if (!find_program(engine_)) {
    throw Error(
        ErrorKind::environment,
        "--container: " + (engine == "any" ? std::string("neither podman nor docker") : engine_) +
            " is on PATH",
        "install the package podman, or leave --container out");
  }
}

void Container::add(const fs::path& directory, bool writable) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return;
  const std::string path = fs::absolute(directory).lexically_normal().string();
  if (path.find_first_of(",\"\n") != std::string::npos) {
    throw Error(
        ErrorKind::input,
        "a container's mount takes no path with a comma, a double quote or a line end: " + path,
        "rename it, or leave --container out");
  }
  for (const auto& mount : mounts_) {
    if (mount.writable >= writable && is_below(path, mount.path)) return;
  }
  mounts_.push_back({path, writable});
}

std::vector<std::string> Container::wrap(const std::vector<std::string>& command,
                                         const fs::path& directory) const {
  std::vector<std::string> words = {engine_, "run", "--rm", "--init", "--network", "none"};
  // Under podman without root, root inside is this user; docker's root is everybody's.
  if (engine_ == "docker") {
    words.insert(words.end(),
                 {"--user", std::to_string(::getuid()) + ":" + std::to_string(::getgid())});
  }
  // An outer directory is mounted before what lies in it.
  auto mounts = mounts_;
  std::sort(mounts.begin(), mounts.end(),
            [](const Mount& a, const Mount& b) { return a.path < b.path; });
  for (const auto& mount : mounts) {
    words.insert(words.end(), {"--mount", "type=bind,source=" + mount.path + ",target=" +
                                              mount.path + (mount.writable ? "" : ",readonly")});
  }
  words.insert(words.end(), {"--workdir", directory.string(), toolchain_image()});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void Container::add_installation() {
  add(prefix_directory());
  // A build tree's share/teeny is links to elsewhere.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(share_directory(), ignored)) {
    if (entry.is_symlink()) add(fs::weakly_canonical(entry.path()));
  }
}

void Container::require_image() const {
  if (run({{engine_, "image", "inspect", toolchain_image()}}).exit_code == 0) return;
  const fs::path context = share_directory() / "container";
  log(LogLevel::notice, "building the toolchain's image " + toolchain_image() + " (once)");
  Command command{{engine_, "build", "--tag", toolchain_image(), "--file",
                   (context / "Containerfile").string(), context.string()}};
  command.capture_output = false;
  command.capture_error = false;
  command.output_to_error = true;
  if (run(command).exit_code == 0) return;
  throw Error(ErrorKind::environment,
              "the image " + toolchain_image() + " could not be built (see above)",
              "the command was: " + display(command.argv));
}

std::vector<fs::path> local_dependencies(const Codemodel& codemodel, const fs::path& project) {
  static const std::vector<fs::path> of_the_image = {"/usr", "/lib", "/lib64", "/bin", "/etc"};
  std::set<fs::path> found;
  const auto add = [&](const fs::path& directory) {
    const fs::path path = directory.lexically_normal();
    if (!path.is_absolute() || !path.has_relative_path() || is_below(path, project)) return;
    const bool in_image =
        std::any_of(of_the_image.begin(), of_the_image.end(),
                    [&path](const fs::path& place) { return is_below(path, place); });
    if (in_image && !is_below(path, "/usr/local")) return;
    found.insert(path);
  };
  for (const auto& file : codemodel.input_files) add(package_of(file));
  for (const auto& directory : codemodel.include_directories) add(directory);
  return {found.begin(), found.end()};
}

}  // namespace teeny::tool
