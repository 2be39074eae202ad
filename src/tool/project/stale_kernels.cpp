#include "tool/project/stale_kernels.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

// Every way to name a kernel goes through these headers.
constexpr std::string_view kernel_headers = "/teeny/lang/";

ProcessResult ask_ninja(const BuildTree& tree, std::vector<std::string> words) {
  words.insert(words.begin(), {"ninja", "-C", tree.directory().string()});
  Command command = tree.tool_command(words);
  command.environment.erase("NINJA_STATUS");
  return run(command);
}

void require_success(const ProcessResult& result, const std::string& what) {
  if (result.exit_code == 0) return;
  throw Error(ErrorKind::input, what + ":\n" + result.output + result.error);
}

}  // namespace

PendingBuild parse_dry_run(const std::string& output) {
  PendingBuild pending;
  for (const auto& line : split(output, '\n')) {
    const auto bracket = line.find("] ");
    if (line.empty() || line.front() != '[' || bracket == std::string::npos) continue;
    const std::string what = line.substr(bracket + 2);
    const auto object = what.find(" object ");
    if (what.rfind("Building ", 0) == 0 && object != std::string::npos) {
      pending.objects.push_back(what.substr(object + 8));
    } else if (what.rfind("Linking ", 0) != 0 && what.rfind("Re-checking ", 0) != 0) {
      pending.more = true;
    }
  }
  return pending;
}

PendingBuild pending_build(const BuildTree& tree, const std::vector<TargetInfo>& targets) {
  // A dry run that finds that CMake may have to run again goes no further. So that runs first, in
  // earnest, and is then left out: it belongs to the name build.ninja alone.
  require_success(ask_ninja(tree, {"build.ninja"}), "CMake cannot configure for " + tree.where());
  const std::string name = ".teeny/programs.ninja";
  write_file(tree.directory() / name, "include build.ninja\n");
  std::vector<std::string> words = {"-f", name, "-n"};
  for (const auto& target : targets) words.push_back(target.name);
  const auto result = ask_ninja(tree, words);
  require_success(result, "ninja cannot say what is up to date for " + tree.where());
  return parse_dry_run(result.output);
}

bool may_hold_kernels(const BuildTree& tree, const std::vector<std::string>& objects,
                      bool unknown) {
  if (objects.empty()) return false;
  std::vector<std::string> words = {"-t", "deps"};
  words.insert(words.end(), objects.begin(), objects.end());
  const auto result = ask_ninja(tree, words);
  if (result.exit_code != 0) return true;  // another tree's objects
  for (const auto& line : split(result.output, '\n')) {
    if (line.find(kernel_headers) != std::string::npos) return true;
    const std::string_view absent = ": deps not found";
    if (unknown && line.size() > absent.size() &&
        line.compare(line.size() - absent.size(), absent.size(), absent) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace teeny::tool
