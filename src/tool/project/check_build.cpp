#include "tool/project/check_build.hpp"

#include <algorithm>

#include "tool/project/source_units.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

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
        targets.empty() || std::any_of(targets.begin(), targets.end(), [&](const auto& target) {
          return is_object_of(object, target);
        });
    // What came with teeny is not the user's to check.
    const auto& all = tree.codemodel().targets;
    const bool of_teeny = std::any_of(all.begin(), all.end(), [&object](const auto& target) {
      return is_of_teeny(target) && is_object_of(object, target);
    });
    if (wanted && !of_teeny) objects.push_back(std::move(object));
  }
  return objects;
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

}  // namespace teeny::tool
