#include <future>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/kernel_check.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/commands/selection.hpp"
#include "tool/project/check_build.hpp"
#include "tool/project/stale_kernels.hpp"

#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct CheckOptions {
  std::string target;
  Selection selection;
};

// A unit without kernels cannot change one: where only such are out of date, the programs as they
// were built last trace the kernels that the sources have. Compiling for this machine goes on
// beside the front ends for the board, as soon as it is known to be needed.
std::size_t check_sources_and_build(const BuildTree& tree, const std::vector<TargetInfo>& targets,
                                    const BuildTree& host,
                                    const std::vector<TargetInfo>& programs) {
  if (programs.empty()) return check_sources(tree, targets);
  const PendingBuild pending = pending_build(host, programs);
  if (pending.more || may_hold_kernels(host, pending.objects, true)) {
    log(LogLevel::notice, "beside it: building for this machine, to trace the kernels");
    auto built = std::async(std::launch::async, [&] { host.build(programs, Messages::in_error); });
    // What does not compile does so twice; the messages for the board are the ones that are shown.
    const std::size_t sources = check_sources(tree, targets);
    built.get();
    return sources;
  }
  const std::size_t sources = check_sources(tree, targets);
  // An include that is new makes a unit one with kernels.
  if (may_hold_kernels(tree, pending.objects, false)) host.build(programs, Messages::in_error);
  return sources;
}

int run_check(const CheckOptions& options) {
  const ProjectDefaults defaults("check");
  const Board board = find_board(defaults.target(options.target));
  // The file's devices are meant for the file's board.
  const bool other_board = !options.target.empty();
  const auto devices = devices_to_check(
      other_board ? std::vector<DeviceArgument>() : defaults.devices_if_any(), board);
  const fs::path root = find_project_root(fs::current_path());
  BuildTree tree(root, board, options.selection, Purpose::check);
  tree.configure();
  const auto targets = tree.selected();
  BuildTree host(root, std::nullopt, options.selection);
  host.configure();
  const auto programs = programs_of(host, targets);
  const auto sources = check_sources_and_build(tree, targets, host, programs);
  log(LogLevel::notice,
      std::to_string(sources) + " source files type-check for " + board.full_name());
  const auto kernels = check_kernels(host, programs, devices, tree.directory() / "kernels");
  std::vector<std::string> words;
  for (const auto& device : devices) {
    words.push_back(device.device + " " + device.options.value_or(""));
  }
  log(LogLevel::notice,
      std::to_string(kernels) + " kernels trace, verify and compile for " + join(words, " and "));
  return 0;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  auto* command =
      app.add_subcommand("check", "Type-check every source for a board; trace and verify kernels");
  add_target(*command, options->target);
  add_toolchain(*command, options->selection);
  add_selection(*command, options->selection, true);
  command->footer(
      "Kernels are compiled for the board's GPU, or for the devices of teeny.toml, and nothing of "
      "them "
      "is kept but\nwhat makes the next check quick. They are traced by the programs named with "
      "--bin, --example or --examples; without "
      "these, "
      "by every program\nof the project that hands its arguments to teeny. Words after -- go to "
      "CMake's configure step.\n"
      "Example:\n  teeny check --target jetson-orin-nano --examples");
  command->callback([options, &session] {
    session.takes_extra = true;
    options->selection.extra = session.extra;
    session.run = [options] { return run_check(*options); };
  });
}

}  // namespace teeny::tool
