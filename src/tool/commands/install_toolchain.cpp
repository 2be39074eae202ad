#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"
#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/cache/assembler_client.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct InstallOptions {
  std::vector<std::string> majors;
  std::optional<std::string> path;
};

int run_install(const InstallOptions& options) {
  const fs::path usual = toolchain_directory(executable_directory() / "teenyc");
  if (options.path && options.path->empty()) throw Error(ErrorKind::usage, "--path is empty");
  const fs::path folder = options.path ? fs::absolute(*options.path) : usual;
  const fs::path script = share_directory() / "assemblers" / "fetch.py";
  std::error_code ignored;
  if (!fs::is_regular_file(script, ignored)) {
    throw Error(ErrorKind::environment, "there is no " + script.string(), "install teeny whole");
  }
  const auto python = find_program("python3");
  if (!python) {
    throw Error(ErrorKind::environment,
                "wanted python3, which fetches the assemblers from the Python index, found none",
                "install python3 with pip; or let TEENY_PTXAS name assemblers that are there");
  }
  Command command{{python->string(), script.string(), "--into", folder.string()}};
  if (!options.majors.empty()) {
    command.argv.emplace_back("--cuda");
    command.argv.insert(command.argv.end(), options.majors.begin(), options.majors.end());
  }
  command.capture_output = false;
  command.capture_error = false;
  const auto result = run(command);
  if (result.exit_code == 2) return 2;  // it has said which words it did not understand
  if (result.exit_code != 0) {
    throw Error(ErrorKind::environment, "not all assemblers could be fetched (see above)",
                "install CUDA toolkits of those releases instead: /usr/local/cuda*/bin is looked "
                "into");
  }
  log(LogLevel::notice, "the assemblers are in " + folder.string());
  if (folder != usual) {
    log(LogLevel::notice, "teeny looks there only when TEENY_PTXAS names them, with ':' between");
  }
  return 0;
}

}  // namespace

void add_install_toolchain(CLI::App& app, Session& session) {
  auto options = std::make_shared<InstallOptions>();
  std::vector<std::string> majors;
  for (const auto& row : known_assemblers()) majors.push_back(std::to_string(row.major));
  auto* command = app.add_subcommand(
      "install-toolchain", "Fetch the assemblers that make machine code, of each CUDA release");
  command->add_option("--cuda", options->majors, "only that CUDA major release; may repeat")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(majors))
      ->type_name("MAJOR");
  command
      ->add_option("--path", options->path,
                   "another folder than share/teeny/toolchain beside this teeny")
      ->type_name("DIR");
  command->footer(
      "They are wheels of the Python index, of pinned versions and digests; python3 with pip "
      "fetches them.\nWhat is there already is left alone.\n"
      "Example:\n  teeny install-toolchain --cuda 12");
  command->callback(
      [options, &session] { session.run = [options] { return run_install(*options); }; });
}

}  // namespace teeny::tool
