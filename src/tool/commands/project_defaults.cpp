#include "tool/commands/project_defaults.hpp"

#include <algorithm>

#include "tool/boards/board_file.hpp"

#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/package.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

std::string as_list(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const auto& text : texts) words.push_back(in_quotes(text));
  return "[" + join(words, ", ") + "]";
}

bool names_a_file(const std::string& target) {
  return target.find('/') != std::string::npos || target.find(".toml") != std::string::npos;
}

}  // namespace

fs::path packages_of(const fs::path& root, const std::string& target, const Board& board) {
  return root / "build" / "package" / (names_a_file(target) ? board.name : target);
}

ProjectDefaults::ProjectDefaults(std::string command, const fs::path& from)
    : command_(std::move(command)), root_(project_root_if_any(from)) {
  if (root_) file_ = read_project_file(*root_);
}

// `shown` is said, `value` returned.
std::string ProjectDefaults::taken(const std::string& key, const std::string& shown,
                                   const std::string& value) const {
  log(LogLevel::notice, key + " = " + shown + " (from " + file_->path.string() + ")");
  return value;
}

Error ProjectDefaults::missing(const std::string& what, const std::string& flag,
                               const std::string& table, const std::string& line) const {
  std::string found = "and there is no project here that could say it";
  std::string where = "the project's teeny.toml";
  if (root_) {
    where = (*root_ / ProjectFile::name).string();
    found = file_ ? "and " + where + " has no " + line.substr(0, line.find(' ')) + " under [" +
                        table + "]"
                  : "and the project has no " + where;
  }
  return {ErrorKind::usage, command_ + " wants " + what + ": " + flag + " is missing, " + found,
          "say " + flag + ", or write " + line + " under [" + table + "] in " + where};
}

std::string ProjectDefaults::target(const std::string& given) const {
  if (!given.empty()) return given;
  if (const auto target = target_in_file()) {
    return taken("package.target", in_quotes(*file_->package.target), *target);
  }
  throw missing("a board", "--target", "package", "target = \"BOARD\"");
}

std::optional<std::string> ProjectDefaults::target_in_file() const {
  if (!file_ || !file_->package.target) return std::nullopt;
  const std::string& target = *file_->package.target;
  return names_a_file(target) ? file_->resolved(target) : target;
}

void ProjectDefaults::add_programs(Selection& selection) const {
  if (!selection.bins.empty() || !selection.examples_named.empty()) return;
  if (file_ && !file_->package.bins.empty()) {
    selection.bins = file_->package.bins;
    static_cast<void>(taken("package.bins", as_list(selection.bins), {}));
  }
  if (file_ && !file_->package.examples.empty()) {
    selection.examples_named = file_->package.examples;
    static_cast<void>(taken("package.examples", as_list(selection.examples_named), {}));
  }
  if (selection.bins.empty() && selection.examples_named.empty()) {
    throw missing("a program", "--bin N or --example N", "package", "bins = [\"N\"]");
  }
}

std::vector<DeviceArgument> ProjectDefaults::devices(
    const std::vector<DeviceArgument>& given) const {
  if (!given.empty()) return given;
  if (!file_ || file_->package.devices.empty()) {
    throw missing("to know what the kernels are compiled for", "--device", "package",
                  "devices = [\"cuda\", \"cpu\"]");
  }
  return devices_if_any();
}

std::vector<DeviceArgument> ProjectDefaults::devices_if_any() const {
  std::vector<DeviceArgument> devices;
  if (!file_ || file_->package.devices.empty()) return devices;
  std::vector<std::string> shown;
  for (const auto& device : file_->package.devices) {
    devices.push_back({device.device, device.options});
    shown.push_back(device.options ? "{ device = " + in_quotes(device.device) +
                                         ", options = " + in_quotes(*device.options) + " }"
                                   : in_quotes(device.device));
  }
  static_cast<void>(taken("package.devices", "[" + join(shown, ", ") + "]", {}));
  return devices;
}

std::vector<std::string> ProjectDefaults::data(const std::vector<std::string>& given) const {
  if (!given.empty() || !file_ || file_->package.data.empty()) return given;
  std::vector<std::string> files;
  for (const auto& name : file_->package.data) files.push_back(file_->resolved(name));
  static_cast<void>(taken("package.data", as_list(file_->package.data), {}));
  return files;
}

std::optional<std::string> ProjectDefaults::destination(
    const std::optional<std::string>& given) const {
  if (given || !file_ || !file_->package.destination) return given;
  const std::string& destination = *file_->package.destination;
  return taken("package.dest", in_quotes(destination), file_->resolved(destination));
}

std::vector<std::string> ProjectDefaults::hosts(const std::vector<std::string>& given) const {
  if (!given.empty()) return given;
  if (!file_ || file_->deploy.hosts.empty()) {
    throw missing("a board to go to", "--host", "deploy", "host = \"LOGIN@HOST\"");
  }
  const auto& hosts = file_->deploy.hosts;
  static_cast<void>(hosts.size() == 1 ? taken("deploy.host", in_quotes(hosts.front()), {})
                                      : taken("deploy.hosts", as_list(hosts), {}));
  return hosts;
}

std::string ProjectDefaults::host(const std::string& given) const {
  if (!given.empty()) return given;
  if (file_ && file_->deploy.hosts.size() > 1) {
    throw Error(ErrorKind::usage,
                command_ + " wants one board: --host is missing, and " + file_->path.string() +
                    " has several under [deploy]: " + join(file_->deploy.hosts, ", "),
                "say --host HOST");
  }
  return hosts({}).front();
}

std::string ProjectDefaults::board_destination(const std::string& given) const {
  if (!given.empty() || !file_ || !file_->deploy.destination) return given;
  const std::string& destination = *file_->deploy.destination;
  return taken("deploy.dest", in_quotes(destination), destination);
}

std::string ProjectDefaults::package(const std::string& given) const {
  if (!given.empty()) return given;
  if (const auto found = package_if_any(std::nullopt)) return *found;
  throw missing("a package", "--package", "deploy", "package = \"DIRECTORY\"");
}

std::optional<std::string> ProjectDefaults::package_if_any(
    const std::optional<std::string>& given) const {
  if (given || !file_) return given;
  if (const auto& package = file_->deploy.package) {
    return taken("deploy.package", in_quotes(*package), file_->resolved(*package));
  }
  if (const auto& destination = file_->package.destination) {
    return taken("package.dest", in_quotes(*destination), file_->resolved(*destination));
  }
  const auto usual = usual_package();
  if (!usual) return std::nullopt;
  return taken("package.target",
               in_quotes(*file_->package.target) + ": the package " + usual->string(),
               usual->string());
}

// The package that `teeny package` made of this project for the file's target, where there is one.
std::optional<fs::path> ProjectDefaults::usual_package() const {
  const auto target = target_in_file();
  if (!target) return std::nullopt;
  const fs::path directory = packages_of(*root_, *target, find_board(*target));
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.front() != '.' && fs::exists(entry.path() / PackageContents::path, ignored)) {
      found.push_back(name);
    }
  }
  std::sort(found.begin(), found.end());
  auto programs = file_->package.bins;
  programs.insert(programs.end(), file_->package.examples.begin(), file_->package.examples.end());
  if (programs.size() == 1 && std::find(found.begin(), found.end(), programs[0]) != found.end()) {
    return directory / programs[0];
  }
  if (found.size() == 1) return directory / found.front();
  const std::string next =
      "say --package DIRECTORY, or write package = \"DIRECTORY\" under [deploy] in " +
      file_->path.string();
  if (found.empty()) {
    throw Error(ErrorKind::usage,
                command_ + " wants a package: --package is missing, and there is none in " +
                    directory.string(),
                "run `teeny package` first; or " + next);
  }
  throw Error(ErrorKind::usage,
              command_ + " wants one package: --package is missing, and " + directory.string() +
                  " holds " + join(found, ", "),
              next);
}

}  // namespace teeny::tool
