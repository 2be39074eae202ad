#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/commands/selection.hpp"

#include "teeny/base/log.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct BuildOptions {
  std::string target;
  Selection selection;
};

int run_build(const BuildOptions& options) {
  const Board board = find_board(ProjectDefaults("build").target(options.target));
  BuildTree tree(find_project_root(fs::current_path()), board, options.selection);
  tree.configure();
  const auto targets = tree.selected();
  tree.build(targets);
  for (const auto& target : targets.empty() ? tree.codemodel().targets : targets) {
    if (target.is_executable()) std::cout << tree.artifact(target).string() << "\n";
  }
  log(LogLevel::notice, "built for " + board.full_name() + " in " + tree.directory().string());
  return 0;
}

}  // namespace

void add_build(CLI::App& app, Session& session) {
  auto options = std::make_shared<BuildOptions>();
  auto* command = app.add_subcommand("build", "Build the project's CPU code for a board");
  add_target(*command, options->target);
  add_toolchain(*command, options->selection);
  add_selection(*command, options->selection, true);
  command->footer(
      "Words after -- go to CMake's configure step. The paths of the programs built are printed.\n"
      "Example:\n  teeny build --target jetson-orin-nano --example image_filter");
  command->callback([options, &session] {
    session.takes_extra = true;
    options->selection.extra = session.extra;
    session.run = [options] { return run_build(*options); };
  });
}

}  // namespace teeny::tool
