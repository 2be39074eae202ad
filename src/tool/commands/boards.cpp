#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"

#include "teeny/target/board_json.hpp"

namespace teeny::tool {

namespace {

struct BoardsOptions {
  std::string name;
  bool json = false;
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

}  // namespace

void add_boards(CLI::App& app, Session& session) {
  auto options = std::make_shared<BoardsOptions>();
  auto* command = app.add_subcommand("boards", "List the boards teeny knows, or show one");
  command->add_option("NAME", options->name, "a board, NAME@GENERATION, or a board file");
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example:\n  teeny boards jetson-orin-nano@6.2");
  command->callback(
      [options, &session] { session.run = [options] { return run_boards(*options); }; });
}

}  // namespace teeny::tool
