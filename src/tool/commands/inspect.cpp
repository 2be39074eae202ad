#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"
#include "tool/deploy/local_package.hpp"
#include "tool/package/own_check.hpp"
#include "tool/project/project.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct InspectOptions {
  std::string kernel;
  std::optional<std::string> package;
  std::optional<std::string> sysroot;
  std::optional<std::string> cache_directory;
  std::string bin;
  std::string example;
  Selection selection;
};

/// A program of the package and the words that start it here.
Command packaged_program(const InspectOptions& options) {
  LocalPackage package;
  package.directory = *options.package;
  package.manifest = PackageContents::read(package.directory);
  const fs::path file = package.directory / "bin" / package.program(options.bin);
  const fs::path board_file = package.directory / PackageContents::board_path;
  const Board board = board_from_json(read_file(board_file), board_file.string());
  std::string why;
  const auto starter = find_starter(file, board, options.sysroot.value_or(""), &why);
  if (!starter) {
    throw Error(ErrorKind::environment,
                "the program " + file.string() + " cannot be started here: " + why,
                "install qemu-user and the cross compiler's C library (--sysroot DIR names another "
                "one), or inspect the build for this machine: --bin or --example in the project");
  }
  log(LogLevel::notice, "asking " + file.string() + ", " + starter->described);
  Command command{starter->words};
  command.argv.push_back(fs::absolute(file).string());
  command.clear_environment = true;
  return command;
}

/// The program of the project here, built for this machine.
Command built_program(const InspectOptions& options) {
  Selection selection = options.selection;
  if (!options.bin.empty()) selection.bins = {options.bin};
  if (!options.example.empty()) selection.examples_named = {options.example};
  BuildTree host(find_project_root(fs::current_path()), std::nullopt, selection);
  host.configure();
  const auto targets = host.selected();
  host.build(targets);
  return Command{{host.artifact(targets.at(0)).string()}};
}

int run_inspect(const InspectOptions& options) {
  if (!options.package && options.bin.empty() && options.example.empty()) {
    throw Error(ErrorKind::usage,
                "inspect wants a program: of a package or of the project here, found neither",
                "--package DIR (and --bin N where it has several), or --bin N, or --example N");
  }
  Command command = options.package ? packaged_program(options) : built_program(options);
  if (options.kernel.empty()) {
    command.argv.emplace_back("--list");
  } else {
    command.argv.insert(command.argv.end(), {"--inspect", options.kernel});
  }
  if (options.cache_directory) {
    command.argv.insert(command.argv.end(), {"--cache-dir", *options.cache_directory});
  }
  command.capture_output = false;
  command.capture_error = false;
  return run(command).exit_code;
}

}  // namespace

void add_inspect(CLI::App& app, Session& session) {
  auto options = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand(
      "inspect", "Show a program's kernels, or all that is known of one: IR, code, registers, PTX");
  command->add_option("KERNEL", options->kernel,
                      "a name, a type, a record key or 8 digits of a fingerprint; without it, all "
                      "kernels are listed");
  auto* package = command->add_option("--package", options->package,
                                      "a directory made by `teeny package`; else the project here");
  package->type_name("DIR");
  auto* bin = command->add_option("--bin", options->bin,
                                  "a program of the package (needed where it has several) or of "
                                  "the project");
  bin->type_name("N");
  command->add_option("--example", options->example, "a program defined under examples/")
      ->excludes(bin)
      ->excludes(package)
      ->type_name("N");
  command
      ->add_option("--sysroot", options->sysroot,
                   "where the packaged program's C library lies, for qemu")
      ->needs(package)
      ->type_name("DIR");
  command
      ->add_option("--cache-dir", options->cache_directory,
                   "where the kernels were compiled to, of a program of the project")
      ->excludes(package)
      ->type_name("DIR");
  command->add_option("-p", options->selection.package, "a project() of a super-build")
      ->excludes(package)
      ->type_name("P");
  command
      ->add_flag("--no-release", options->selection.no_release,
                 "the project's build with debug information")
      ->excludes(package);
  command->add_option("--features", options->selection.features, "CMake options to switch on: A,B")
      ->excludes(package)
      ->type_name("LIST");
  command->footer(
      "The program itself answers, by its --inspect and --list: a packaged one on this machine or "
      "under qemu-user,\none of the project after it was built for this machine.\n"
      "Example:\n  teeny inspect Blur --package build/package/jetson-orin-nano/image_filter\n"
      "  teeny inspect --example image_filter");
  command->callback(
      [options, &session] { session.run = [options] { return run_inspect(*options); }; });
}

}  // namespace teeny::tool
