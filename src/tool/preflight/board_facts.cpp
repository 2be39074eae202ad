#include "tool/preflight/board_facts.hpp"

#include "tool/package/table.hpp"

namespace teeny::tool {

namespace {

std::string gpu_text(const Board& board) {
  if (!board.capability) return "none";
  std::string text = board.capability->name();
  if (board.multiprocessors > 0) {
    text += ", " + std::to_string(board.multiprocessors) + " multiprocessors";
  }
  if (board.shared_memory_kib > 0) {
    text += ", " + std::to_string(board.shared_memory_kib) + " KiB shared memory a block";
  }
  return text + (board.integrated ? ", integrated" : "");
}

std::string driver_text(const BoardGeneration& generation) {
  if (!generation.driver) return "none";
  std::string text = "CUDA " + generation.driver->name();
  if (const auto ceiling = ptx_ceiling(*generation.driver)) {
    text += ", PTX up to " + ceiling->name();
  }
  return text;
}

std::string memory_text(const BoardFacts& facts) {
  if (!facts.memory_total) return "";
  std::string text = readable_size(*facts.memory_total);
  if (facts.memory_available) text += ", " + readable_size(*facts.memory_available) + " available";
  return text;
}

std::string disk_text(const BoardFacts& facts) {
  if (!facts.disk_free) return "";
  return readable_size(*facts.disk_free) + " free at " + facts.destination;
}

}  // namespace

std::string_view to_string(Origin origin) noexcept {
  switch (origin) {
    case Origin::board_file:
      return "board file";
    case Origin::l4t_table:
      return "L4T table";
    case Origin::probed:
      return "probed";
    case Origin::unknown:
      break;
  }
  return "unknown";
}

BoardFacts facts_of(const Board& board) {
  BoardFacts facts;
  facts.board = board;
  facts.board.generations = {board.chosen()};
  facts.board.generation = 0;
  FactOrigins& from = facts.from;
  from.machine = from.cpu = from.glibc = from.glibcxx = from.gpu = from.driver = from.memory =
      Origin::board_file;
  if (!board.chosen().l4t.empty()) from.l4t = Origin::board_file;
  facts.memory_total = static_cast<std::uint64_t>(board.memory_mib) << 20U;
  return facts;
}

std::vector<FactRow> rows_of(const BoardFacts& facts) {
  const Board& board = facts.board;
  const BoardGeneration& generation = board.chosen();
  const FactOrigins& from = facts.from;
  std::vector<FactRow> rows = {
      {"machine", board.triple, from.machine},
      {"cpu", board.cpu, from.cpu},
      {"glibc", generation.glibc, from.glibc},
      {"libstdc++", generation.glibcxx.empty() ? "" : "GLIBCXX_" + generation.glibcxx,
       from.glibcxx},
      {"l4t", generation.l4t, from.l4t},
      {"gpu", gpu_text(board), from.gpu},
      {"driver", driver_text(generation), from.driver},
      {"memory", memory_text(facts), from.memory},
      {"disk", disk_text(facts), from.disk},
  };
  for (auto& row : rows) {
    if (row.origin == Origin::unknown) row.value.clear();
  }
  return rows;
}

}  // namespace teeny::tool
