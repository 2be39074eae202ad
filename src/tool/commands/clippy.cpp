#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/commands/selection.hpp"
#include "tool/project/source_units.hpp"
#include "tool/project/tidy.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct ClippyOptions {
  std::string target;
  Selection selection;
};

int run_clippy(const ClippyOptions& options) {
  const Board board = find_board(ProjectDefaults("clippy").target(options.target));
  static_cast<void>(find_clang_tidy());
  BuildTree tree(find_project_root(fs::current_path()), board, options.selection, Purpose::check);
  tree.configure();
  const auto sources = own_sources(tree, tree.selected());
  const auto findings = run_clang_tidy(tree, board.triple, sources);
  for (const auto& finding : findings) std::cout << finding.text << "\n";
  std::cout << std::flush;
  if (!findings.empty()) {
    throw Error(ErrorKind::input,
                "clang-tidy found " + std::to_string(findings.size()) + " problem" +
                    (findings.size() == 1 ? "" : "s") + " for " + board.full_name() + " in " +
                    std::to_string(sources.size()) + " source files",
                "mend them, or say in a .clang-tidy which checks are meant");
  }
  log(LogLevel::notice, "clang-tidy finds nothing for " + board.full_name() + " in " +
                            std::to_string(sources.size()) + " source files");
  return 0;
}

}  // namespace

void add_clippy(CLI::App& app, Session& session) {
  auto options = std::make_shared<ClippyOptions>();
  auto* command = app.add_subcommand("clippy", "Run clang-tidy over the project for a board");
  add_target(*command, options->target);
  add_toolchain(*command, options->selection);
  add_selection(*command, options->selection, true);
  command->footer(
      "Every source of the project is read as for the board: its triple, and the headers of the "
      "cross compiler.\nThe project's own .clang-tidy says which checks are meant; without one, "
      "bugprone, performance, the\nanalyzer and unused code. Only findings in the project's own "
      "files count. Exit code 1 when there are any.\nWords after -- go to CMake's configure step.\n"
      "Example:\n  teeny clippy --target jetson-orin-nano");
  command->callback([options, &session] {
    session.takes_extra = true;
    options->selection.extra = session.extra;
    session.run = [options] { return run_clippy(*options); };
  });
}

}  // namespace teeny::tool
