#include "tool/project/project.hpp"

#include <algorithm>
#include <set>

#include <unistd.h>  // environ

#include "tool/installation.hpp"
#include "tool/project/check_build.hpp"
#include "tool/project/cmake_inputs.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// A word at the start of a line, outside comments: enough to tell a CMakeLists.txt that stands for
// itself from one that is added by another.
bool calls_project(const std::string& text) {
  for (const auto& line : split(text, '\n')) {
    std::string code(trim(line));
    std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    if (code.rfind("project", 0) == 0) {
      const auto rest = trim(std::string_view(code).substr(7));
      if (!rest.empty() && rest.front() == '(') return true;
    }
  }
  return false;
}

std::vector<std::string> feature_names(const std::string& features) {
  std::vector<std::string> names;
  if (features.empty()) return names;
  for (const auto& name : split(features, ',')) {
    const bool good = !name.empty() && name.front() != '-' &&
                      name.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_-.") == std::string::npos;
    if (!good) {
      throw Error(ErrorKind::usage, "--features: \"" + name + "\" is no name of a CMake option",
                  "give names of options of the project, joined by commas");
    }
    names.push_back(name);
  }
  return names;
}

std::string directory_name(const std::optional<Board>& board, Purpose purpose, bool release,
                           bool in_container) {
  std::string name = board ? board->name : "host";
  if (board && in_container) name += "-container";
  if (purpose == Purpose::check) return name + "-check";
  return name + (release ? "-release" : "-debug");
}

std::vector<std::string> names_of(const std::vector<TargetInfo>& targets, bool examples,
                                  const std::string& package) {
  std::set<std::string> names;
  for (const auto& target : targets) {
    if (!target.is_executable() || (examples && !target.is_example())) continue;
    if (!package.empty() && target.project != package) continue;
    names.insert(target.program());
  }
  return {names.begin(), names.end()};
}

// The name that -DNAME=... or -DNAME:TYPE=... defines; nullopt for another word.
std::optional<std::string> defined_name(const std::string& word) {
  if (word.rfind("-D", 0) != 0) return std::nullopt;
  const auto end = word.find_first_of(":=");
  if (end == std::string::npos || end == 2) return std::nullopt;
  return word.substr(2, end - 2);
}

// What makes CMake forget what an earlier configure step was told and this one is not: -UNAME
// words. nullopt when more has changed than definitions, so that the cache must go. A stamp is a
// digest and words, joined by zero bytes.
std::optional<std::vector<std::string>> forgetting_words(const std::string& before,
                                                         const std::string& now) {
  const auto old_words = split(before, '\0');
  const auto new_words = split(now, '\0');
  std::set<std::string> old_names;
  std::vector<std::string> old_rest;
  std::vector<std::string> new_rest;
  for (const auto& word : old_words) {
    if (const auto name = defined_name(word))
      old_names.insert(*name);
    else
      old_rest.push_back(word);
  }
  for (const auto& word : new_words) {
    if (const auto name = defined_name(word))
      old_names.erase(*name);
    else
      new_rest.push_back(word);
  }
  if (old_rest != new_rest) return std::nullopt;
  std::vector<std::string> forget;
  for (const auto& name : old_names) forget.push_back("-U" + name);
  return forget;
}

Error no_such_target(const std::string& flag, const std::string& name,
                     const std::vector<std::string>& names) {
  const auto close = nearest(name, names);
  return Error(ErrorKind::usage,
               flag + " " + name + ": the project defines no such " +
                   (flag == "--example" ? "example" : "program") +
                   (close ? "; did you mean " + *close + "?" : ""),
               names.empty() ? std::string("it defines none at all")
                             : "choose one of: " + join(names, ", "));
}

}  // namespace

std::optional<fs::path> project_root_if_any(const fs::path& from) {
  for (fs::path directory = fs::absolute(from).lexically_normal();;
       directory = directory.parent_path()) {
    const auto text = read_file_if_exists(directory / "CMakeLists.txt");
    if (text && calls_project(*text)) return directory;
    if (directory == directory.parent_path()) return std::nullopt;
  }
}

fs::path find_project_root(const fs::path& from) {
  if (auto root = project_root_if_any(from)) return *root;
  throw Error(ErrorKind::input,
              "no CMake project here: neither " + from.string() +
                  " nor a directory above it has a CMakeLists.txt that calls project()",
              "go to a directory of your project");
}

BuildTree::BuildTree(fs::path root, std::optional<Board> board, const Selection& selection,
                     Purpose purpose)
    : root_(std::move(root)),
      board_(std::move(board)),
      selection_(selection),
      purpose_(purpose),
      release_(!selection.no_release),
      directory_(root_ / "build" / "teeny" /
                 directory_name(board_, purpose, release_, !selection.container.empty())) {
  static_cast<void>(feature_names(selection_.features));
  if (root_.string().find_first_of("\"\\;") != std::string::npos) {
    throw Error(
        ErrorKind::input,
        "CMake cannot build in a directory whose path holds a double quote, a backslash or a "
        "semicolon: " +
            root_.string(),
        "rename it");
  }
}

std::string BuildTree::where() const { return board_ ? board_->full_name() : "this machine"; }

std::map<std::string, std::string> BuildTree::environment() const {
  std::map<std::string, std::string> result;
  // What a user sets for the host's own compiler would end up in code for another machine.
  static const std::set<std::string> of_the_host = {
      "CFLAGS",         "CXXFLAGS",           "CPPFLAGS",     "LDFLAGS",       "CPATH",
      "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string name(text.substr(0, equals));
    if (board_ && of_the_host.count(name) != 0) continue;
    result[name] = std::string(text.substr(equals + 1));
  }
  return result;
}

Command BuildTree::tool_command(const std::vector<std::string>& words) const {
  Command command{container_ ? container_->wrap(words, root_) : words};
  command.environment = environment();
  command.clear_environment = true;
  return command;
}

void BuildTree::open_container() {
  container_.emplace(selection_.container);
  // What the project takes from elsewhere shows when it is configured here.
  Selection here = selection_;
  here.container.clear();
  BuildTree host(root_, std::nullopt, here);
  host.configure();
  container_->add(root_, true);
  container_->add_installation();
  if (!toolchain_.sysroot.empty()) container_->add(toolchain_.sysroot);
  if (toolchain_.cuda) container_->add(*toolchain_.cuda);
  for (const auto& directory : local_dependencies(host.codemodel(), root_)) {
    container_->add(directory);
  }
  container_->require_image();
}

std::vector<std::string> BuildTree::configure_words() const {
  std::vector<std::string> words = {
      "cmake",
      "-S",
      root_.string(),
      "-B",
      directory_.string(),
      "-G",
      container_ || find_program("ninja") ? "Ninja" : "Unix Makefiles",
      "--no-warn-unused-cli",
      "-Wno-dev"};
  const auto define = [&words](const std::string& name, const std::string& value) {
    words.push_back("-D" + name + "=" + value);
  };
  define("CMAKE_EXPORT_COMPILE_COMMANDS", "ON");
  define("CMAKE_BUILD_TYPE", release_ ? "Release" : "Debug");
  define("CMAKE_PROJECT_TOP_LEVEL_INCLUDES", (directory_ / ".teeny" / "project.cmake").string());
  if (board_) define("CMAKE_TOOLCHAIN_FILE", (directory_ / ".teeny" / "toolchain.cmake").string());
  if (purpose_ == Purpose::check) {
    for (const char* language : {"C", "CXX"}) {
      define("CMAKE_" + std::string(language) + "_COMPILER_LAUNCHER",
             executable_path().string() + ";" + std::string(check_launcher_word));
    }
  }
  const fs::path package = prefix_directory() / "lib" / "cmake" / "teeny";
  std::error_code ignored;
  if (fs::exists(package / "teenyConfig.cmake", ignored)) define("teeny_DIR", package.string());
  // In a project that builds teeny itself: only its libraries and programs are wanted here.
  for (const char* part : {"COMPILER", "TOOL", "TESTS", "BENCHMARKS"}) {
    define("TEENY_BUILD_" + std::string(part), "OFF");
  }
  for (const auto& feature : feature_names(selection_.features)) define(feature, "ON");
  words.insert(words.end(), selection_.extra.begin(), selection_.extra.end());
  return words;
}

void BuildTree::write_inputs() const {
  const fs::path inputs = directory_ / ".teeny";
  fs::create_directories(inputs);
  const auto write = [&inputs](const char* name, const std::string& text) {
    if (read_file_if_exists(inputs / name) != text) write_file(inputs / name, text);
  };
  write("project.cmake", project_include(root_, board_, toolchain_, release_));
  if (board_) write("toolchain.cmake", toolchain_file(*board_, toolchain_));
  write_file_api_query(directory_);
}

void BuildTree::configure() {
  if (board_) {
    toolchain_ = choose_toolchain(
        *board_, root_, {selection_.sysroot, selection_.cuda_path, !selection_.container.empty()});
    if (!selection_.container.empty()) open_container();
  }
  write_inputs();
  std::vector<std::string> words = configure_words();
  const fs::path inputs = directory_ / ".teeny";
  const std::string stamp =
      sources_of_inputs(inputs) + '\0' + join(words, std::string_view("\0", 1));
  // What was tried last, whether it went well or not, and what went well last.
  const auto tried = read_file_if_exists(inputs / "tried");
  if (read_file_if_exists(inputs / "configured") == stamp && tried == stamp) {
    if (auto model = read_file_api_reply(directory_)) {
      codemodel_ = std::move(*model);
      return;
    }
  }
  if (fs::exists(directory_ / "CMakeCache.txt")) {
    const auto forget = tried ? forgetting_words(*tried, stamp) : std::nullopt;
    const std::vector<std::string> fresh = {"--fresh"};
    const auto& more = forget ? *forget : fresh;
    words.insert(words.begin() + 1, more.begin(), more.end());
  }
  log(LogLevel::notice, "configuring " + root_.string() + " for " + where());
  write_file(inputs / "tried", stamp);
  const auto result = run(tool_command(words));
  if (result.exit_code != 0) {
    throw Error(ErrorKind::input,
                "CMake cannot configure " + root_.string() + " for " + where() + ":\n" +
                    result.output + result.error,
                "the command was: " + display(words));
  }
  auto model = read_file_api_reply(directory_);
  if (!model) {
    throw Error(ErrorKind::environment, "CMake gave no File API reply in " + directory_.string(),
                "CMake 3.25 or later is needed");
  }
  codemodel_ = std::move(*model);
  check_features();
  write_file(inputs / "configured", stamp);
}

void BuildTree::check_features() const {
  for (const auto& feature : feature_names(selection_.features)) {
    const auto type = codemodel_.cache_types.find(feature);
    if (type != codemodel_.cache_types.end() && type->second == "BOOL") continue;
    std::vector<std::string> options;
    for (const auto& [name, kind] : codemodel_.cache_types) {
      if (kind == "BOOL" && name.rfind("CMAKE_", 0) != 0 && name.rfind("TEENY_", 0) != 0) {
        options.push_back(name);
      }
    }
    throw Error(ErrorKind::usage, "--features " + feature + ": the project has no such option()",
                options.empty() ? std::string("it has none at all")
                                : "choose among: " + join(options, ", "));
  }
}

std::vector<TargetInfo> BuildTree::selected() const {
  const auto& all = codemodel_.targets;
  const std::string& package = selection_.package;
  if (!package.empty() && std::find(codemodel_.projects.begin(), codemodel_.projects.end(),
                                    package) == codemodel_.projects.end()) {
    throw Error(ErrorKind::usage, "-p " + package + ": there is no such project()",
                "choose one of: " + join(codemodel_.projects, ", "));
  }
  std::vector<TargetInfo> result;
  const auto add = [&](const std::string& flag, const std::string& name, bool example) {
    const TargetInfo* found = nullptr;
    for (const auto& target : all) {
      if (target.program() != name || !target.is_executable()) continue;
      if (!package.empty() && target.project != package) continue;
      if (example && !target.is_example()) continue;
      if (found == nullptr || target.has_kernels_alone()) found = &target;
    }
    if (found != nullptr) {
      result.push_back(*found);
      return;
    }
    throw no_such_target(flag, name, names_of(all, example, package));
  };
  for (const auto& name : selection_.bins) add("--bin", name, false);
  for (const auto& name : selection_.examples_named) add("--example", name, true);
  if (selection_.all_examples) {
    const auto names = names_of(all, true, package);
    if (names.empty()) {
      throw Error(ErrorKind::usage, "--examples: the project defines no program under examples/",
                  "name a program with --bin");
    }
    for (const auto& name : names) add("--example", name, true);
  }
  if (selection_.empty() && !package.empty()) {
    for (const auto& target : all) {
      if (target.project == package && target.type != "UTILITY" &&
          target.type != "INTERFACE_LIBRARY") {
        result.push_back(target);
      }
    }
  }
  return result;
}

void BuildTree::build(const std::vector<TargetInfo>& targets, Messages messages) const {
  std::vector<std::string> words = {"cmake", "--build", directory_.string(), "--parallel"};
  if (!targets.empty()) words.push_back("--target");
  for (const auto& target : targets) words.push_back(target.name);
  Command command = tool_command(words);
  if (messages == Messages::shown) {
    command.capture_output = false;
    command.capture_error = false;
    command.output_to_error = true;
  }
  const auto result = run(command);
  if (result.exit_code != 0) {
    throw Error(ErrorKind::input,
                "the build for " + where() + " failed" +
                    (messages == Messages::shown ? " (its messages are above)"
                                                 : ":\n" + result.output + result.error),
                "the command was: " + display(words));
  }
}

fs::path BuildTree::artifact(const TargetInfo& target) const {
  // The build step may have run CMake again, and the program may have moved.
  const auto model = read_file_api_reply(directory_);
  for (const auto& now : (model ? *model : codemodel_).targets) {
    if (now.name != target.name || now.artifacts.empty()) continue;
    const fs::path path = directory_ / now.artifacts.front();
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  throw Error(ErrorKind::input, "the build made no file for " + target.name,
              "look at " + directory_.string());
}

}  // namespace teeny::tool
