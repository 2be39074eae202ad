#include "tool/project/new_project.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// Targets that CMake's generators make by themselves.
const std::vector<std::string> names_of_cmake = {"all",
                                                 "ALL_BUILD",
                                                 "clean",
                                                 "depend",
                                                 "edit_cache",
                                                 "help",
                                                 "INSTALL",
                                                 "install",
                                                 "list_install_components",
                                                 "NIGHTLY_MEMORY_CHECK",
                                                 "package",
                                                 "PACKAGE",
                                                 "package_source",
                                                 "preinstall",
                                                 "rebuild_cache",
                                                 "RUN_TESTS",
                                                 "test",
                                                 "ZERO_CHECK"};

std::string filled(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), value);
      at += value.size();
    }
  }
  return text;
}

std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::map<std::string, std::string> values_of(const NewProject& project) {
  const std::string version = TEENY_VERSION;
  // A board file is seen from where teeny.toml lies.
  const bool file = project.target.find('/') != std::string::npos ||
                    project.target.find(".toml") != std::string::npos;
  const std::string target =
      file ? fs::absolute(project.target).lexically_normal().string() : project.target;
  const bool cuda = !project.board || project.board->capability.has_value();
  return {{"NAME", project.name},
          {"VERSION", version.substr(0, version.rfind('.'))},
          {"TARGET_LINE",
           target.empty() ? "# target = \"jetson-orin-nano\"" : "target = " + toml_text(target)},
          {"DEVICES", cuda ? "[\"cuda\", \"cpu\"]" : "[\"cpu\"]"}};
}

void require_empty(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory, error))) return;
  if (fs::is_directory(directory, error) && fs::is_empty(directory, error) && !error) return;
  throw Error(ErrorKind::usage,
              directory.string() + " is there already" +
                  (fs::is_directory(directory, error) ? ", and not empty" : ", and no directory"),
              "choose another --dir");
}

}  // namespace

void check_project_name(const std::string& name) {
  const auto refuse = [&name](const std::string& why) {
    return Error(ErrorKind::usage, "\"" + name + "\" cannot be the name of a program: " + why,
                 "the name is a CMake target's: letters, digits and _ - . +, e.g. demo");
  };
  if (name.empty()) throw refuse("it is empty");
  const auto bad =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+");
  if (bad != std::string::npos) throw refuse("it holds a character that CMake does not take");
  if (name.front() == '-' || name.front() == '.') {
    throw refuse("it begins with " + name.substr(0, 1));
  }
  if (std::find(names_of_cmake.begin(), names_of_cmake.end(), name) != names_of_cmake.end()) {
    throw refuse("CMake has a target of this name of its own");
  }
  if (name == "teeny" || name.rfind("teeny_", 0) == 0) {
    throw refuse("teeny's own libraries are called so");
  }
}

void write_new_project(const NewProject& project) {
  check_project_name(project.name);
  const fs::path templates = share_directory() / "templates" / "project";
  if (!fs::is_directory(templates)) {
    throw Error(ErrorKind::environment, "there are no templates in " + templates.string(),
                "install teeny whole");
  }
  const fs::path directory = fs::absolute(project.directory).lexically_normal();
  require_empty(directory);
  const fs::path parent =
      (directory.has_filename() ? directory : directory.parent_path()).parent_path();
  fs::create_directories(parent);
  const TemporaryDirectory staging(".teeny-new-", parent);
  const fs::path whole = staging.path() / "project";
  fs::create_directories(whole);
  const auto values = values_of(project);
  for (const auto& entry : fs::directory_iterator(templates)) {
    const std::string name = entry.path().filename().string();
    // A .gitignore among the templates would be heard where they lie.
    write_file(whole / (name == "gitignore" ? ".gitignore" : name),
               filled(read_file(entry.path()), values));
  }
  std::error_code error;
  fs::rename(whole, directory, error);
  if (error) {
    throw Error(ErrorKind::environment,
                "the project cannot be put at " + directory.string() + ": " + error.message(),
                "choose another --dir");
  }
}

}  // namespace teeny::tool
