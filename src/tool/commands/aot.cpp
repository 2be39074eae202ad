#include <cstdlib>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/devices.hpp"
#include "tool/commands/programs.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/commands/selection.hpp"
#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct AotOptions {
  Selection selection;
  DeviceFlags devices;
  std::optional<std::string> cache_directory;
  bool force = false;
};

// The user's own words are forwarded as they are; what the project's file leaves out of its options
// comes from the file's board.
std::vector<DeviceArgument> devices_of(const AotOptions& options, const ProjectDefaults& defaults) {
  const auto given = options.devices.arguments(false);
  auto devices = defaults.devices(given);
  const auto target = defaults.target_in_file();
  for (auto& device : devices) {
    if (!given.empty() || !target) {
      static_cast<void>(check_device(device));
      continue;
    }
    const Board board = find_board(*target, "package.target");
    const BoardRequest request = check_device_for_board(device, board);
    device.options = request.options;
    if (!request.appended.empty()) {
      log(LogLevel::notice, "--device " + device.device + ": from " + board.full_name() + ": " +
                                join(request.appended, ","));
    }
  }
  return devices;
}

int run_aot(AotOptions options) {
  const ProjectDefaults defaults("aot");
  const auto devices = devices_of(options, defaults);
  defaults.add_programs(options.selection);
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
      "What is left out comes from the project's teeny.toml.\n"
      "The program is built for this machine and run with --device, --options, --cache-dir and "
      "--force as you wrote them;\nits exit code is passed on.\n"
      "Example:\n  teeny aot --example image_filter --device cuda --options "
      "\"capability=sm_87,ptx-version=82\"");
  command->callback([options, &session] { session.run = [options] { return run_aot(*options); }; });
}

}  // namespace teeny::tool
