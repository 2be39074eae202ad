#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "tool/commands/board_access.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/deploy/deployment.hpp"
#include "tool/package/table.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

struct DeployOptions {
  std::optional<std::string> package;
  std::vector<std::string> hosts;
  BoardAccess access;
  DeployRules rules;
  std::optional<unsigned> keep;
  bool rollback = false;
};

struct HostResult {
  std::string host;
  std::optional<Deployed> done;
  std::string failure;  ///< first line of what went wrong
  int exit_code = 0;
};

void print_done(const HostResult& result, const Transport& transport) {
  const Deployed& done = *result.done;
  if (done.dry) return;
  std::cout << "release " << short_id(done.id) << " of " << done.name << " is live at "
            << result.host << ":" << done.destination << "/current";
  if (!done.before.empty() && done.before != done.id) {
    std::cout << " (before: " << short_id(done.before) << ")";
  }
  std::cout << "\n";
  for (const auto& program : done.programs) {
    std::cout << "run it: "
              << transport.typed(display({done.destination + "/current/bin/" + program})) << "\n";
  }
}

void print_table(const std::vector<HostResult>& results) {
  std::vector<std::vector<std::string>> rows = {{"HOST", "BEFORE", "NOW", "SENT", "RESULT"}};
  for (const auto& result : results) {
    if (!result.done) {
      rows.push_back({result.host, "-", "-", "-",
                      "failed (" + std::to_string(result.exit_code) + "): " + result.failure});
      continue;
    }
    const Deployed& done = *result.done;
    rows.push_back({result.host, done.before.empty() ? "-" : short_id(done.before),
                    short_id(done.dry ? done.before : done.id), readable_size(done.sent),
                    done.dry ? "nothing done" : "live"});
  }
  std::cout << aligned(rows);
}

HostResult deploy_one(const Transport& transport, const DeployOptions& options,
                      const std::optional<LocalPackage>& package, const std::string& destination) {
  HostResult result;
  result.host = transport.host();
  result.done = options.rollback ? roll_back(transport, destination, options.rules.dry_run)
                                 : deploy(transport, *package, destination, options.rules);
  return result;
}

// What the command line leaves out comes from the project's teeny.toml.
DeployOptions completed(DeployOptions options) {
  const ProjectDefaults defaults("deploy");
  options.hosts = defaults.hosts(options.hosts);
  options.access.destination = defaults.board_destination(options.access.destination);
  if (!options.rollback) {
    options.package = defaults.package(options.package.value_or(""));
  } else if (options.access.destination.empty()) {
    options.package = defaults.package_if_any(options.package);
  }
  return options;
}

int run_deploy(DeployOptions options) {
  if (options.keep) {
    if (*options.keep < 2) {
      throw Error(ErrorKind::usage,
                  "--keep " + std::to_string(*options.keep) +
                      ": the release in use and the one before it always stay",
                  "--keep 2 or more");
    }
    options.rules.keep = *options.keep;
  }
  std::optional<LocalPackage> package;
  if (options.package) package = LocalPackage::read(*options.package);
  const std::string destination =
      options.access.destination_of(package ? package->manifest.name : "");
  std::vector<std::unique_ptr<Transport>> transports;
  for (const auto& host : options.hosts) {
    transports.push_back(std::make_unique<Transport>(host, options.access.ssh));
  }
  if (transports.size() == 1) {
    print_done(deploy_one(*transports.front(), options, package, destination), *transports.front());
    return 0;
  }
  std::vector<HostResult> results;
  for (const auto& transport : transports) {
    try {
      results.push_back(deploy_one(*transport, options, package, destination));
      print_done(results.back(), *transport);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) throw;
      log(LogLevel::error, transport->host() + ": error: " + error.what());
      const std::string& text = error.message();
      results.push_back(
          {transport->host(), std::nullopt, text.substr(0, text.find('\n')), error.exit_code()});
    }
  }
  print_table(results);
  int code = 0;
  for (const auto& result : results) {
    if (result.exit_code != 0)
      code = code == 0 ? result.exit_code : std::min(code, result.exit_code);
  }
  return code;
}

}  // namespace

void add_deploy(CLI::App& app, Session& session) {
  auto options = std::make_shared<DeployOptions>();
  auto* command = app.add_subcommand("deploy", "Ship a package to a board over ssh");
  command->add_option("--package", options->package, "a directory made by `teeny package`")
      ->type_name("DIR");
  command
      ->add_option("--host", options->hosts,
                   "[user@]name, or an alias of your ssh configuration; may repeat")
      ->allow_extra_args(false)
      ->type_name("HOST");
  add_board_access(*command, options->access);
  auto* overwrite = command->add_flag("--overwrite", options->rules.overwrite,
                                      "replace a release of the same id");
  auto* keep = command
                   ->add_option("--keep", options->keep,
                                "releases that stay on the board, the one in use counted; the "
                                "others are removed after the switch")
                   ->type_name("COUNT");
  command
      ->add_flag("--rollback", options->rollback, "go back to the release that was in use before")
      ->excludes(overwrite)
      ->excludes(keep);
  command->add_flag("--dry-run", options->rules.dry_run,
                    "say what would be sent and switched, and change nothing");
  command->footer(
      "What the command line leaves out comes from the project's teeny.toml.\n"
      "The package is copied beside the release in use, verified there file by file, asked for its "
      "own --check\nthere, and switched to in one step: DEST/releases/ID, and DEST/current points "
      "to "
      "it. What the board has already\nis not sent again; a copy that was cut off is gone on "
      "with.\n"
      "Example:\n  teeny deploy --package build/package/jetson-orin-nano/image_filter --host "
      "nvidia@orin\n  teeny deploy --package build/package/jetson-orin-nano/image_filter --host "
      "nvidia@orin --rollback");
  command->callback(
      [options, &session] { session.run = [options] { return run_deploy(completed(*options)); }; });
}

}  // namespace teeny::tool
