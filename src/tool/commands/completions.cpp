#include "tool/completions/completions.hpp"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"

#include "teeny/base/error.hpp"

namespace teeny::tool {

namespace {

struct CompletionOptions {
  std::string shell;
  bool programs = false;
};

int run_completions(const CLI::App& app, const CompletionOptions& options) {
  if (options.programs) {
    for (const auto& name : known_programs(std::filesystem::current_path())) {
      std::cout << name << "\n";
    }
    return 0;
  }
  if (options.shell.empty()) {
    throw Error(ErrorKind::usage, "completions wants the shell that they are for", "bash");
  }
  std::cout << bash_completions(app);
  return 0;
}

}  // namespace

void add_completions(CLI::App& app, Session& session) {
  auto options = std::make_shared<CompletionOptions>();
  auto* command =
      app.add_subcommand("completions", "Print a script by which a shell completes teeny's words");
  auto* shell = command->add_option("SHELL", options->shell, "the shell")
                    ->check(CLI::IsMember(std::vector<std::string>{"bash"}));
  command
      ->add_flag("--programs", options->programs,
                 "print the programs of the project here instead, as it was last configured")
      ->excludes(shell);
  command->footer(
      "An installed teeny brings it along: share/bash-completion/completions/teeny.\n"
      "Example:\n  teeny completions bash > ~/.local/share/bash-completion/completions/teeny");
  command->callback([options, &app, &session] {
    session.run = [options, &app] { return run_completions(app, *options); };
  });
}

}  // namespace teeny::tool
