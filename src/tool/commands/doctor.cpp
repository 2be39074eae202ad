#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/doctor/diagnosis.hpp"
#include "tool/installation.hpp"

#include "teeny/base/error.hpp"

namespace teeny::tool {

namespace {

struct DoctorOptions {
  std::string target;
  bool json = false;
};

// A board with the one generation that is meant.
Board only_chosen(Board board) {
  board.generations = {board.chosen()};
  board.generation = 0;
  return board;
}

int run_doctor(const DoctorOptions& options) {
  const std::vector<Board> boards = options.target.empty()
                                        ? shipped_boards()
                                        : std::vector{only_chosen(find_board(options.target))};
  Diagnosis diagnosis;
  diagnose_compiler(diagnosis);
  try {
    diagnose_assemblers(find_assemblers(executable_directory() / "teenyc"), boards, diagnosis);
  } catch (const Error& error) {
    diagnosis.problems.push_back({error.message(), error.next()});
  }
  diagnose_tools(boards, diagnosis);
  std::cout << (options.json ? as_json(diagnosis) : as_text(diagnosis));
  return diagnosis.problems.empty() ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand(
      "doctor", "Show the compilers and assemblers that are there, and what is missing");
  command->add_option("--target", options->target, "look only for what this board needs")
      ->type_name("BOARD");
  command->add_flag("--json", options->json, "as JSON");
  command->footer(
      "Exits 1 when something is missing that is needed, and says how to get it.\n"
      "Example:\n  teeny doctor --target jetson-orin-nano@6.2");
  command->callback(
      [options, &session] { session.run = [options] { return run_doctor(*options); }; });
}

}  // namespace teeny::tool
