#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace teeny::tool {

/// What parsing the command line leaves behind: the one command to run, and the words after `--`.
struct Session {
  std::function<int()> run;
  std::vector<std::string> extra;
  bool has_extra = false;
  bool takes_extra = false;
};

// Each adds one subcommand; when it is the one that was named, it sets `session.run`.
void add_new(CLI::App& app, Session& session);
void add_build(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_clippy(CLI::App& app, Session& session);
void add_sysroot(CLI::App& app, Session& session);
void add_aot(CLI::App& app, Session& session);
void add_package(CLI::App& app, Session& session);
void add_preflight(CLI::App& app, Session& session);
void add_deploy(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_boards(CLI::App& app, Session& session);
void add_inspect(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_install_toolchain(CLI::App& app, Session& session);
void add_completions(CLI::App& app, Session& session);

}  // namespace teeny::tool
