#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/selection.hpp"
#include "tool/project/new_project.hpp"

#include "teeny/base/log.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct NewOptions {
  std::string name;
  std::string directory;
  std::string target;
};

int run_new(const NewOptions& options) {
  check_project_name(options.name);
  NewProject project{options.name,
                     options.directory.empty() ? options.name : options.directory,
                     options.target,
                     {}};
  if (!options.target.empty()) project.board = find_board(options.target);
  write_new_project(project);
  std::cout << fs::absolute(project.directory).lexically_normal().string() << "\n";
  if (!project.board) {
    log(LogLevel::notice,
        "teeny.toml names no board yet: write target = \"BOARD\" there, or say --target; `teeny "
        "boards` lists them");
  }
  return 0;
}

}  // namespace

void add_new(CLI::App& app, Session& session) {
  auto options = std::make_shared<NewOptions>();
  auto* command = app.add_subcommand("new", "Write a small project: one kernel and its program");
  command->add_option("NAME", options->name, "name of the project and of its program")->required();
  add_target(*command, options->target);
  command
      ->add_option("--dir", options->directory,
                   "where it goes: a directory that is empty or not there; default ./NAME")
      ->type_name("DIR");
  command->footer(
      "The directory is printed. The board of --target goes into the project's teeny.toml, so that "
      "the other\ncommands need no --target there.\n"
      "Example:\n  teeny new demo --target jetson-orin-nano");
  command->callback([options, &session] { session.run = [options] { return run_new(*options); }; });
}

}  // namespace teeny::tool
