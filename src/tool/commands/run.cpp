#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/commands/board_access.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/deploy/deployment.hpp"
#include "tool/deploy/releases.hpp"

#include "teeny/base/log.hpp"

namespace teeny::tool {

namespace {

struct RunOptions {
  std::string package;
  std::string host;
  std::string bin;
  BoardAccess access;
};

// What the command line leaves out comes from the project's teeny.toml.
RunOptions completed(RunOptions options) {
  const ProjectDefaults defaults("run");
  options.host = defaults.host(options.host);
  options.package = defaults.package(options.package);
  options.access.destination = defaults.board_destination(options.access.destination);
  return options;
}

int run_on_board(const RunOptions& options, const std::vector<std::string>& arguments) {
  const LocalPackage package = LocalPackage::read(options.package);
  const std::string program = package.program(options.bin);
  const Transport transport(options.host, options.access.ssh);
  const std::string destination = options.access.destination_of(package.manifest.name);
  Releases releases(transport, destination);
  const BoardState state = releases.look(package.id);
  if (!state.has(package.id)) {
    static_cast<void>(deploy(transport, package, destination, {}));
  } else if (state.current != package.id) {
    log(LogLevel::notice, "release " + short_id(package.id) + " is on " + options.host +
                              "; in use there is " +
                              (state.current.empty() ? "none" : short_id(state.current)));
  }
  std::vector<std::string> words = {releases.path_of(package.id) + "/bin/" + program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return transport.run_program(words);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto options = std::make_shared<RunOptions>();
  auto* command = app.add_subcommand("run", "Run a package's program on a board");
  command->add_option("--package", options->package, "a directory made by `teeny package`")
      ->type_name("DIR");
  command->add_option("--host", options->host, "[user@]name, or an alias of your ssh configuration")
      ->type_name("HOST");
  command->add_option("--bin", options->bin, "the program, where the package has several")
      ->type_name("N");
  add_board_access(*command, options->access);
  command->footer(
      "Deploys the package first if its release is not on the board; one that is there is run as "
      "it "
      "is, whether in use\nor not. The program's three streams are this command's, so is its exit "
      "code; a signal to this command (SIGINT,\nSIGTERM, SIGHUP) goes to the program and all that "
      "it started. Words after -- are the program's own.\n"
      "Example:\n  teeny run --host nvidia@orin --package "
      "build/package/jetson-orin-nano/vector_add -- --on cpu");
  command->callback([options, &session] {
    session.takes_extra = true;
    const auto arguments = session.extra;
    session.run = [options, arguments] { return run_on_board(completed(*options), arguments); };
  });
}

}  // namespace teeny::tool
