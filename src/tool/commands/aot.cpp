#include <cstdlib>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"
#include "tool/commands/devices.hpp"
#include "tool/commands/programs.hpp"
#include "tool/commands/selection.hpp"
#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct AotOptions {
  Selection selection;
  DeviceFlags devices;
  std::optional<std::string> cache_directory;
  bool force = false;
};

int run_aot(const AotOptions& options) {
  const auto devices = options.devices.arguments(true);
  for (const auto& device : devices) static_cast<void>(check_device(device));
  if (options.selection.bins.size() + options.selection.examples_named.size() != 1) {
    throw Error(ErrorKind::usage, "aot wants one program: --bin N or --example N");
  }
  static_cast<void>(teenyc_path());
  BuildTree host(find_project_root(fs::current_path()), std::nullopt, options.selection);
  host.configure();
  const auto targets = host.selected();
  host.build(targets);
  AotRun aot{host.artifact(targets.at(0)), devices, options.cache_directory, options.force, false};
  log(LogLevel::notice, "compiling the kernels of " + targets.at(0).name);
  return run_aot_program(aot).exit_code;
}

}  // namespace

void add_aot(CLI::App& app, Session& session) {
  auto options = std::make_shared<AotOptions>();
  auto* command =
      app.add_subcommand("aot", "Compile a program's kernels ahead of time, on this machine");
  add_selection(*command, options->selection, false);
  options->devices.add_to(*command);
  command->add_option("--cache-dir", options->cache_directory, "where the kernels go")
      ->type_name("DIR");
  command->add_flag("--force", options->force, "compile also what is there already");
  command->footer(
      "The program is built for this machine and run with --device, --options, --cache-dir and "
      "--force as you wrote them;\nits exit code is passed on.\n"
      "Example:\n  teeny aot --example image_filter --device cuda --options "
      "\"capability=sm_87,ptx-version=82\"");
  command->callback([options, &session] { session.run = [options] { return run_aot(*options); }; });
}

}  // namespace teeny::tool
