#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/selection.hpp"
#include "tool/project/check_build.hpp"

#include "teeny/base/log.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct CheckOptions {
  std::string target;
  Selection selection;
};

int run_check(const CheckOptions& options) {
  const Board board = find_board(options.target);
  const fs::path root = find_project_root(fs::current_path());
  BuildTree tree(root, board, options.selection, Purpose::check);
  tree.configure();
  const auto targets = tree.selected();
  const auto objects = check_sources(tree, targets);
  log(LogLevel::notice,
      std::to_string(objects) + " source files type-check for " + board.full_name());
  BuildTree host(root, std::nullopt, options.selection);
  const auto kernels = check_kernels(host, targets);
  log(LogLevel::notice, std::to_string(kernels) + " kernels trace and verify");
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
      "Kernels are traced by the programs named with --bin, --example or --examples; without "
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
