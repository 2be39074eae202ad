#include "tool/project/check_build.hpp"

#include <algorithm>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

/// What teeny::Program leaves in every program that uses it.
constexpr std::string_view program_marker = "--help-teeny";

std::vector<std::string> object_files(const BuildTree& tree,
                                      const std::vector<TargetInfo>& targets) {
  const auto result =
      run(tree.tool_command({"ninja", "-C", tree.directory().string(), "-t", "targets", "all"}));
  if (result.exit_code != 0) {
    throw Error(ErrorKind::environment, "ninja cannot list the project's targets: " + result.error);
  }
  std::vector<std::string> objects;
  for (const auto& line : split(result.output, '\n')) {
    const auto colon = line.rfind(": ");
    if (colon == std::string::npos) continue;
    const std::string rule = line.substr(colon + 2);
    if (rule.rfind("C_COMPILER__", 0) != 0 && rule.rfind("CXX_COMPILER__", 0) != 0) continue;
    std::string object = line.substr(0, colon);
    const bool wanted =
        targets.empty() ||
        std::any_of(targets.begin(), targets.end(), [&object](const auto& target) {
          return ("/" + object).find("/CMakeFiles/" + target.name + ".dir/") != std::string::npos;
        });
    if (wanted) objects.push_back(std::move(object));
  }
  return objects;
}

bool uses_teeny_program(const fs::path& program) {
  return read_file(program).find(program_marker) != std::string::npos;
}

std::size_t list_kernels(const fs::path& program) {
  Command command{{program.string(), "--list"}};
  command.capture_error = false;
  const auto result = run(command);
  if (result.exit_code != 0) {
    throw Error(ErrorKind::input,
                "the kernels of " + program.filename().string() + " do not verify (see above)",
                "the command was: " + display(command.argv), result.exit_code);
  }
  std::size_t kernels = 0;
  for (const auto& line : split(result.output, '\n')) {
    if (line.find('\t') != std::string::npos) ++kernels;
  }
  log(LogLevel::notice, program.filename().string() + ": " + std::to_string(kernels) + " kernels");
  return kernels;
}

}  // namespace

int run_check_launcher(const std::vector<std::string>& words) {
  std::vector<std::string> argv = words;
  const bool compiles = std::find(words.begin(), words.end(), "-c") != words.end();
  fs::path object;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "-o") object = words[i + 1];
  }
  if (compiles) argv.insert(argv.begin() + 1, "-fsyntax-only");
  Command command{argv};
  command.inherit_input = true;
  command.capture_output = false;
  command.capture_error = false;
  const auto result = run(command);
  if (result.exit_code == 0 && compiles && !object.empty()) write_file(object, "");
  return result.exit_code;
}

std::size_t check_sources(const BuildTree& tree, const std::vector<TargetInfo>& targets) {
  if (!find_program("ninja")) {
    throw Error(ErrorKind::environment, "check needs ninja, which is not on PATH",
                "install the package ninja-build");
  }
  const auto objects = object_files(tree, targets);
  if (objects.empty()) return 0;
  std::vector<std::string> words = {"ninja", "-C", tree.directory().string()};
  words.insert(words.end(), objects.begin(), objects.end());
  Command command = tree.tool_command(words);
  command.capture_output = false;
  command.capture_error = false;
  command.output_to_error = true;
  if (run(command).exit_code != 0) {
    throw Error(ErrorKind::input,
                "the sources do not compile for " + tree.where() + " (see the messages above)");
  }
  return objects.size();
}

std::size_t check_kernels(BuildTree& host, const std::vector<TargetInfo>& targets) {
  host.configure();
  std::vector<TargetInfo> programs;
  const auto& all = host.codemodel().targets;
  for (const auto& target : all) {
    if (!target.is_executable()) continue;
    const bool stood_for = std::any_of(all.begin(), all.end(), [&target](const auto& other) {
      return other.has_kernels_alone() && other.program() == target.name;
    });
    if (stood_for) continue;
    const bool wanted =
        targets.empty() ||
        std::any_of(targets.begin(), targets.end(), [&target](const auto& other) {
          return other.program() == target.program() && other.project == target.project;
        });
    if (wanted) programs.push_back(target);
  }
  if (programs.empty()) return 0;
  host.build(programs);
  std::size_t kernels = 0;
  for (const auto& target : programs) {
    const fs::path program = host.artifact(target);
    if (uses_teeny_program(program)) {
      kernels += list_kernels(program);
    } else {
      log(LogLevel::notice, target.name + " has no flags of teeny: its kernels are not traced");
    }
  }
  return kernels;
}

}  // namespace teeny::tool
