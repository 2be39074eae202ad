#include "tool/preflight/board_toml.hpp"

#include <vector>

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

// A basic string of TOML; what a board says of itself may hold any bytes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return result + "\"";
}

std::string remark(Origin origin) {
  return origin == Origin::probed ? "" : " # " + std::string(to_string(origin));
}

void require_known(const BoardFacts& facts) {
  const FactOrigins& from = facts.from;
  std::vector<std::string> missing;
  const auto want = [&missing](Origin origin, const char* what) {
    if (origin == Origin::unknown) missing.emplace_back(what);
  };
  want(from.machine, "machine");
  want(from.glibc, "glibc");
  want(from.glibcxx, "libstdc++");
  want(from.gpu, "CUDA device");
  if (from.gpu != Origin::unknown && facts.board.capability) want(from.driver, "CUDA driver");
  want(from.memory, "memory");
  if (missing.empty()) return;
  throw Error(ErrorKind::board,
              "wanted the facts of a board file, " + facts.name() + " does not tell its " +
                  join(missing, ", "),
              "name a package that was made for such a board (--package DIR): its program asks the "
              "CUDA driver; or write the file by hand, as boards/jetson-orin-nano.toml of teeny");
}

}  // namespace

std::string board_to_toml(const BoardFacts& facts) {
  require_known(facts);
  const Board& board = facts.board;
  const BoardGeneration& generation = board.chosen();
  const FactOrigins& from = facts.from;
  std::string text = "# Written by teeny boards probe.\n";
  for (const auto& line : facts.remarks) text += "# " + quoted(line) + "\n";
  const auto add = [&text](const std::string& key, const std::string& value,
                           Origin origin = Origin::probed) {
    text += key + " = " + value + remark(origin) + "\n";
  };
  add("schema", "1");
  add("name", quoted(board.name));
  add("description", quoted(board.description.empty() ? board.name : board.description));
  add("triple", quoted(board.triple), from.machine);
  add("cpu", quoted(board.cpu.empty() ? "generic" : board.cpu), from.cpu);
  add("memory_mib", std::to_string(board.memory_mib), from.memory);
  if (board.bandwidth_gbps > 0) {
    add("bandwidth_gbps", std::to_string(board.bandwidth_gbps), Origin::board_file);
  }
  if (!board.sysroot_directories.empty()) {
    std::vector<std::string> lines;
    for (const auto& directory : board.sysroot_directories)
      lines.push_back("  " + quoted(directory));
    add("sysroot_directories", "[\n" + join(lines, ",\n") + ",\n]");
  }
  if (board.capability) {
    text += "\n[cuda]\n";
    add("capability", quoted(board.capability->name()), from.gpu);
    add("integrated", board.integrated ? "true" : "false", from.gpu);
    add("multiprocessors", std::to_string(board.multiprocessors), from.gpu);
    add("shared_memory_kib", std::to_string(board.shared_memory_kib), from.gpu);
    add("target_directory", quoted(board.cuda_target_directory));
  }
  text += "\n[[generation]]\n";
  add("name", quoted(generation.name));
  if (!generation.l4t.empty()) add("l4t", quoted(generation.l4t), from.l4t);
  add("os", quoted(generation.os.empty() ? "unknown" : generation.os));
  add("glibc", quoted(generation.glibc), from.glibc);
  add("glibcxx", quoted(generation.glibcxx), from.glibcxx);
  if (board.capability) add("driver", quoted(generation.driver->name()), from.driver);
  return text;
}

}  // namespace teeny::tool
