#include "tool/app.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/commands/command.hpp"
#include "tool/project/check_build.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

constexpr const char* closing_text =
    "A program and its kernels, from a desktop to a board:\n"
    "  teeny new demo --target jetson-orin-nano\n"
    "  teeny build --target jetson-orin-nano --example image_filter\n"
    "  teeny package --target jetson-orin-nano --example image_filter --device cuda \\\n"
    "      --options \"capability=sm_87,ptx-version=82\"\n"
    "  teeny preflight --package build/package/jetson-orin-nano/image_filter --host nvidia@orin\n"
    "  teeny deploy --package build/package/jetson-orin-nano/image_filter --host nvidia@orin\n"
    "`teeny COMMAND --help` explains one command.";

// CLI11 takes `--name=` without a value as `--name` and eats the next word: an empty value is given
// a word of its own.
std::vector<std::string> spell_out_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    if (word.size() > 3 && word.compare(0, 2, "--") == 0 && word.find('=') == word.size() - 1) {
      result.push_back(word.substr(0, word.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(word);
    }
  }
  return result;
}

int print_error(const Error& error) {
  std::string text = "error: " + error.message();
  if (!error.next().empty()) {
    for (const auto& line : split(error.next(), '\n')) text += "\n       " + line;
  }
  log(LogLevel::error, text);
  return error.exit_code();
}

int parse_and_run(Session& session, CLI::App& app, std::vector<std::string> words) {
  // Words after the first lone -- belong to the tools underneath; only some commands take them.
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end != words.end()) {
    session.has_extra = true;
    session.extra.assign(end + 1, words.end());
    words.erase(end, words.end());
  }
  words = spell_out_empty_values(words);
  if (!words.empty() && !words.front().empty() && words.front().front() != '-') {
    std::vector<std::string> commands;
    for (const auto* command : app.get_subcommands({})) commands.push_back(command->get_name());
    if (std::find(commands.begin(), commands.end(), words.front()) == commands.end()) {
      const auto close = nearest(words.front(), commands);
      throw Error(ErrorKind::usage,
                  "there is no command \"" + words.front() + "\"" +
                      (close ? "; did you mean " + *close + "?" : ""),
                  "commands: " + join(commands, ", "));
    }
  }
  std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& asked) {
    return app.exit(asked, std::cout, std::cerr);
  } catch (const CLI::ParseError& error) {
    std::string asked = "teeny";
    for (const auto* command : app.get_subcommands()) asked += " " + command->get_name();
    throw Error(ErrorKind::usage, error.what(), "see `" + asked + " --help`");
  }
  if (session.has_extra && !session.takes_extra) {
    throw Error(ErrorKind::usage, "this command takes no words after --", "leave them out");
  }
  return session.run();
}

}  // namespace

std::unique_ptr<CLI::App> make_command_line(Session& session) {
  auto owned = std::make_unique<CLI::App>(
      "teeny: tile kernels in C++, compiled ahead of time for boards", "teeny");
  CLI::App& app = *owned;
  app.set_version_flag("--version", "teeny " TEENY_VERSION);
  app.require_subcommand(1);
  app.footer(closing_text);
  add_new(app, session);
  add_build(app, session);
  add_check(app, session);
  add_clippy(app, session);
  add_sysroot(app, session);
  add_aot(app, session);
  add_package(app, session);
  add_preflight(app, session);
  add_deploy(app, session);
  add_run(app, session);
  add_boards(app, session);
  add_inspect(app, session);
  add_doctor(app, session);
  add_install_toolchain(app, session);
  add_completions(app, session);
  return owned;
}

int run_tool(int argc, const char* const* argv) {
  try {
    if (argc > 2 && std::string_view(argv[1]) == check_launcher_word) {
      return run_check_launcher({argv + 2, argv + argc});
    }
    Session session;
    const auto app = make_command_line(session);
    return parse_and_run(session, *app, {argv + 1, argv + argc});
  } catch (const Error& error) {
    return print_error(error);
  } catch (const std::exception& error) {
    return print_error(Error(ErrorKind::internal, error.what(), "this is a bug in teeny"));
  }
}

}  // namespace teeny::tool
