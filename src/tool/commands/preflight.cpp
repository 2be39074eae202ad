#include "tool/preflight/preflight.hpp"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/board_access.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/package/findings.hpp"
#include "tool/preflight/probe.hpp"
#include "tool/preflight/report.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/package.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct PreflightOptions {
  std::string package;
  std::string board;
  std::string host;
  BoardAccess access;
  bool json = false;
};

// Where the package would go, and the program of it that asks the board's CUDA driver. A package
// that is none is for `examine` to tell.
ProbeRequest request_of(const PreflightOptions& options) {
  ProbeRequest request{options.access.destination, {}};
  try {
    const auto contents = PackageContents::read(options.package);
    request.destination = options.access.destination_of(contents.name);
    if (contents.programs.empty()) return request;
    const fs::path program = fs::path(options.package) / "bin" / contents.programs.front();
    if (fs::is_regular_file(program)) request.program = program;
  } catch (const Error&) {
    request.program.clear();
  }
  return request;
}

BoardFacts facts_asked_for(const PreflightOptions& options) {
  if (!options.board.empty() && !options.host.empty()) {
    throw Error(ErrorKind::usage, "preflight compares with one board: --board or --host",
                "--board NAME compares with a board file, --host HOST with a live board");
  }
  if (options.host.empty()) return facts_of(find_board(options.board, "--board"));
  const Transport transport(options.host, options.access.ssh);
  log(LogLevel::notice, "looking at " + options.host);
  return probe(transport, request_of(options));
}

// What the command line leaves out comes from the project's teeny.toml. No board is asked that was
// not named.
PreflightOptions completed(PreflightOptions options) {
  const ProjectDefaults defaults("preflight");
  if (options.board.empty() && options.host.empty()) {
    const auto target = defaults.target_in_file();
    if (!target) {
      throw Error(
          ErrorKind::usage, "preflight wants a board to compare with: --board or --host",
          "--board NAME compares with a board file, --host HOST with a live board; or write "
          "target = \"BOARD\" under [package] in the project's teeny.toml");
    }
    options.board = defaults.target({});
  }
  options.package = defaults.package(options.package);
  options.access.destination = defaults.board_destination(options.access.destination);
  return options;
}

int run_preflight(const PreflightOptions& options) {
  PreflightReport report{options.package, facts_asked_for(options), {}, {}};
  report.notices = report.facts.remarks;
  report.findings = examine(options.package, report.facts, &report.notices);
  if (options.json) {
    std::cout << as_json(report);
    return report.exit_code();
  }
  std::cout << as_table(report.facts) << std::flush;
  for (const auto& notice : report.notices) log(LogLevel::notice, notice);
  const std::string& name = report.facts.name();
  throw_findings(report.findings, "the package would not run on " + name + ":");
  std::cout << options.package << " fits " << name << "\n";
  return 0;
}

}  // namespace

void add_preflight(CLI::App& app, Session& session) {
  auto options = std::make_shared<PreflightOptions>();
  auto* command = app.add_subcommand(
      "preflight", "Check whether a package would run on a board, copying nothing");
  command->add_option("--package", options->package, "a directory made by `teeny package`")
      ->type_name("DIR");
  command->add_option("--board", options->board, "a board, BOARD@GENERATION, or a board file")
      ->type_name("BOARD");
  command
      ->add_option("--host", options->host,
                   "a live board: [user@]name, or an alias of your ssh configuration")
      ->type_name("HOST");
  add_board_access(*command, options->access);
  command->add_flag("--json", options->json, "as JSON");
  command->footer(
      "Exits with the lowest code of what it found: 10 capability, 11 PTX or driver, 12 C library "
      "or machine,\n13 dtype, 14 memory or disk, 15 incomplete package, 16 unreachable board; all "
      "of it is printed.\n"
      "On a live board one program of the package is copied to a temporary directory, asks the "
      "CUDA driver and\nis removed again; where it cannot, the board files answer by the board's "
      "L4T release, and that is said.\n"
      "Example:\n  teeny preflight --package build/package/jetson-orin-nano/image_filter --board "
      "jetson-orin-nano@6.2\n"
      "  teeny preflight --package build/package/jetson-orin-nano/image_filter --host nvidia@orin");
  command->callback([options, &session] {
    session.run = [options] { return run_preflight(completed(*options)); };
  });
}

}  // namespace teeny::tool
