#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/preflight/board_toml.hpp"
#include "tool/preflight/probe.hpp"
#include "tool/preflight/report.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/package.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct BoardsOptions {
  std::string name;
  bool json = false;
};

struct ProbeOptions {
  std::string host;
  std::string ssh = "ssh";
  std::string package;
  std::string output;
};

void print_generation(const BoardGeneration& generation, bool chosen) {
  std::cout << "  " << std::left << std::setw(14) << generation.name << std::setw(14)
            << generation.os << "glibc " << generation.glibc << ", GLIBCXX " << generation.glibcxx;
  if (generation.driver) {
    std::cout << ", CUDA driver " << generation.driver->name() << ", PTX up to "
              << generation.ptx_ceiling->name();
  }
  if (!generation.l4t.empty()) std::cout << ", L4T " << generation.l4t;
  std::cout << (chosen ? "  <- meant\n" : "\n");
}

void print_board(const Board& board) {
  std::cout << board.name << ": " << board.description << "\n"
            << "  processor     " << board.cpu << ", " << board.triple << "\n";
  if (board.capability) {
    std::cout << "  GPU           " << board.capability->name() << ", " << board.multiprocessors
              << " multiprocessors, " << board.shared_memory_kib << " KiB shared memory a block"
              << (board.integrated ? ", integrated" : "") << "\n";
  } else {
    std::cout << "  GPU           none\n";
  }
  std::cout << "  memory        " << board.memory_mib << " MiB";
  if (board.bandwidth_gbps != 0) std::cout << ", " << board.bandwidth_gbps << " GB/s";
  std::cout << (board.integrated ? ", shared by CPU and GPU\n" : "\n") << "generations:\n";
  for (std::size_t i = 0; i < board.generations.size(); ++i) {
    print_generation(board.generations[i], i == board.generation);
  }
}

void print_list(const std::vector<Board>& boards) {
  for (const auto& board : boards) {
    std::vector<std::string> names;
    std::ostringstream generations;
    for (const auto& generation : board.generations) generations << " @" << generation.name;
    std::cout << std::left << std::setw(18) << board.name << std::setw(8)
              << (board.capability ? board.capability->name() : "cpu") << board.description << ":"
              << generations.str() << "\n";
  }
}

int run_boards(const BoardsOptions& options) {
  if (!options.name.empty()) {
    const Board board = find_board(options.name);
    if (options.json) {
      std::cout << board_to_json(board);
    } else {
      print_board(board);
    }
    return 0;
  }
  const auto boards = shipped_boards();
  if (!options.json) {
    print_list(boards);
    return 0;
  }
  auto list = nlohmann::ordered_json::array();
  for (const auto& board : boards) {
    list.push_back(nlohmann::ordered_json::parse(board_to_json(board)));
  }
  std::cout << list.dump(2) << "\n";
  return 0;
}

int run_probe(const ProbeOptions& options) {
  ProbeRequest request;
  if (!options.package.empty()) {
    const auto contents = PackageContents::read(options.package);
    if (!contents.programs.empty()) {
      request.program = fs::path(options.package) / "bin" / contents.programs.front();
    }
  }
  const Transport transport(options.host, options.ssh);
  const BoardFacts facts = probe(transport, request);
  for (const auto& remark : facts.remarks) log(LogLevel::notice, remark);
  const std::string text = board_to_toml(facts);
  if (options.output.empty()) {
    std::cout << text;
    return 0;
  }
  write_file(options.output, text);
  std::cout << as_table(facts) << options.output << "\n";
  return 0;
}

CLI::App* add_probe(CLI::App& boards, Session& session) {
  auto options = std::make_shared<ProbeOptions>();
  auto* command = boards.add_subcommand("probe", "Write a board file from a live board, over ssh");
  command->add_option("HOST", options->host, "[user@]name, or an alias of your ssh configuration")
      ->required()
      ->type_name("HOST");
  command->add_option("--ssh", options->ssh, "the ssh command, e.g. \"ssh -p 2222 -F config\"")
      ->type_name("CMD");
  command
      ->add_option("--package", options->package,
                   "a package made for such a board: its program is copied to a temporary "
                   "directory there, asks the CUDA driver, and is removed again")
      ->type_name("DIR");
  command->add_option("-o,--output", options->output, "the file to write; default standard output")
      ->type_name("FILE");
  command->footer(
      "Without --package nothing is copied to the board; what only its CUDA driver knows is then "
      "taken from\nthe board files, by the release of Linux for Tegra, and marked so.\n"
      "Example:\n  teeny boards probe nvidia@orin -o my-orin.toml");
  command->callback(
      [options, &session] { session.run = [options] { return run_probe(*options); }; });
  return command;
}

}  // namespace

void add_boards(CLI::App& app, Session& session) {
  auto options = std::make_shared<BoardsOptions>();
  auto* command = app.add_subcommand("boards", "List the boards teeny knows, or show one");
  command->add_option("NAME", options->name, "a board, NAME@GENERATION, or a board file")
      ->type_name("BOARD");
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example:\n  teeny boards jetson-orin-nano@6.2");
  const auto* probe = add_probe(*command, session);
  command->callback([options, probe, &session] {
    if (probe->parsed()) return;  // its own callback came first
    session.run = [options] { return run_boards(*options); };
  });
}

}  // namespace teeny::tool
