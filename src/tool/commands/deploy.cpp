#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"
#include "tool/package/findings.hpp"
#include "tool/package/manifest.hpp"
#include "tool/package/table.hpp"
#include "tool/transport/release.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct DeployOptions {
  std::string package;
  std::string host;
  std::string destination;
  std::string ssh = "ssh";
  bool overwrite = false;
};

/// A package on this machine, whole: the manifest, its digest, and the files it tells of.
struct LocalPackage {
  fs::path directory;
  PackageContents manifest;
  std::string id;
  std::uint64_t size = 0;
};

LocalPackage read_package(const fs::path& directory) {
  LocalPackage package;
  package.directory = fs::absolute(directory).lexically_normal();
  if (!package.directory.has_filename()) package.directory = package.directory.parent_path();
  package.manifest = PackageContents::read(package.directory);
  const std::string text = read_file(package.directory / PackageContents::path);
  package.id = sha256_hex(text);
  package.size = text.size();
  for (const auto& file : package.manifest.files) package.size += file.size;
  const auto differences = compare_files(package.manifest.files, list_files(package.directory));
  if (!differences.empty()) {
    throw Error(ErrorKind::input,
                package.directory.string() + " is not as its manifest says:\n  " +
                    join(differences, "\n  "),
                "make the package again", finding_code::incomplete);
  }
  return package;
}

// What a release on the board must hold: the package's files and the manifest.
std::vector<PackagedFile> wanted_files(const LocalPackage& package) {
  auto files = package.manifest.files;
  files.push_back({PackageContents::path, 0644, 0, package.id});
  return files;
}

void check_machine(const LocalPackage& package, const BoardState& state, const std::string& host) {
  const std::string& triple = package.manifest.triple;
  const std::string wanted = triple.substr(0, triple.find('-'));
  std::vector<Finding> findings;
  if (state.machine != wanted) {
    findings.push_back({finding_code::c_library,
                        "wanted a machine of " + wanted + " (" + package.manifest.board + "), " +
                            host + " is " + state.machine,
                        "package for the board you deploy to"});
  }
  const std::uint64_t needed_kib = package.size / 1024 + 1024;
  if (state.free_kib && *state.free_kib < needed_kib) {
    findings.push_back({finding_code::space,
                        "wanted " + readable_size(needed_kib * 1024) + " free at " +
                            state.destination + ", board has " +
                            readable_size(*state.free_kib * 1024),
                        "remove old releases there, or name another --dest"});
  }
  throw_findings(findings, "the package does not fit the board:");
}

void require_equal(const LocalPackage& package, const std::vector<PackagedFile>& found,
                   const std::string& next) {
  const auto differences = compare_files(wanted_files(package), found);
  if (differences.empty()) return;
  throw Error(ErrorKind::board,
              "what is on the board is not the package:\n  " + join(differences, "\n  ") +
                  "\nthe release in use there is untouched",
              next, finding_code::incomplete);
}

void send(const LocalPackage& package, ReleaseDirectory& releases, const BoardState& state) {
  const bool with_rsync = state.has_rsync && find_program("rsync").has_value();
  log(LogLevel::notice, std::string("copying by ") +
                            (with_rsync ? "rsync" : "tar (no rsync on both sides)") + ": " +
                            readable_size(package.size));
  const auto sent = releases.copy(package.directory, state, with_rsync);
  log(LogLevel::notice, readable_size(sent) + " sent; verifying on the board");
  require_equal(package, releases.files(true), "deploy again");
  releases.settle();
}

int run_deploy(const DeployOptions& options) {
  const LocalPackage package = read_package(options.package);
  const Transport transport(options.host, options.ssh);
  const std::string destination =
      options.destination.empty() ? "teeny/" + package.manifest.name : options.destination;
  ReleaseDirectory releases(transport, destination, package.id);
  log(LogLevel::notice, "looking at " + options.host);
  const BoardState state = releases.look();
  check_machine(package, state, options.host);
  if (state.has_release && !options.overwrite) {
    log(LogLevel::notice,
        "release " + package.id.substr(0, 12) + " is there already; verifying it");
    require_equal(package, releases.files(false), "deploy with --overwrite to replace it");
  } else {
    send(package, releases, state);
  }
  if (state.current == package.id && !options.overwrite) {
    log(LogLevel::notice, "it is the one in use");
  } else {
    releases.switch_to();
  }
  std::cout << "release " << package.id.substr(0, 12) << " of " << package.manifest.name
            << " is live at " << options.host << ":" << state.destination << "/current\n";
  for (const auto& program : package.manifest.programs) {
    std::cout << "run it: "
              << transport.typed(display({state.destination + "/current/bin/" + program})) << "\n";
  }
  return 0;
}

}  // namespace

void add_deploy(CLI::App& app, Session& session) {
  auto options = std::make_shared<DeployOptions>();
  auto* command = app.add_subcommand("deploy", "Ship a package to a board over ssh");
  command->add_option("--package", options->package, "a directory made by `teeny package`")
      ->required()
      ->type_name("DIR");
  command->add_option("--host", options->host, "[user@]name, or an alias of your ssh configuration")
      ->required()
      ->type_name("HOST");
  command
      ->add_option("--dest", options->destination,
                   "directory on the board; default teeny/NAME in the home of the login")
      ->type_name("DIR");
  command->add_option("--ssh", options->ssh, "the ssh command, e.g. \"ssh -p 2222 -F config\"")
      ->type_name("CMD");
  command->add_flag("--overwrite", options->overwrite, "replace a release of the same id");
  command->footer(
      "The package is copied beside the release in use, verified there, and switched to in one "
      "step:\nDEST/releases/ID, and DEST/current points to it.\n"
      "Example:\n  teeny deploy --package build/package/jetson-orin-nano/image_filter --host "
      "nvidia@orin");
  command->callback(
      [options, &session] { session.run = [options] { return run_deploy(*options); }; });
}

}  // namespace teeny::tool
