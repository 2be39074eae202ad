#include "tool/boards/board_file.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "tool/installation.hpp"
#include "tool/toml_fields.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr int schema = 1;

TomlOrigin origin_of(const std::string& name) {
  return {name, "a board file", "boards/jetson-orin-nano.toml of teeny shows every key"};
}

bool dotted_numbers(std::string_view text, std::size_t parts) {
  const auto numbers = split(text, '.');
  return numbers.size() == parts && std::all_of(numbers.begin(), numbers.end(), [](const auto& n) {
           return parse_unsigned(n).has_value();
         });
}

bool plain_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-._") ==
             std::string_view::npos;
}

std::string plain_name_of(TomlFields& fields) {
  std::string name = fields.text("name");
  if (!plain_name(name)) {
    fields.fail("name", "must be of a-z, 0-9, '-', '.' and '_', found \"" + name + "\"");
  }
  return name;
}

BoardGeneration read_generation(TomlFields& fields, bool has_cuda) {
  BoardGeneration generation;
  generation.name = plain_name_of(fields);
  generation.l4t = fields.maybe_text("l4t").value_or("");
  generation.os = fields.text("os");
  generation.glibc = fields.text("glibc");
  if (!dotted_numbers(generation.glibc, 2)) {
    fields.fail("glibc", "must be like \"2.35\", found \"" + generation.glibc + "\"");
  }
  generation.glibcxx = fields.text("glibcxx");
  if (!dotted_numbers(generation.glibcxx, 3)) {
    fields.fail("glibcxx", "must be like \"3.4.30\", found \"" + generation.glibcxx + "\"");
  }
  const auto driver = fields.maybe_text("driver");
  if (has_cuda && !driver) fields.fail("driver", "is missing: the board has a [cuda] table");
  if (!has_cuda && driver) fields.fail("driver", "is given, but the board has no [cuda] table");
  if (driver) {
    generation.driver = DriverVersion::parse(*driver);
    if (!generation.driver) {
      fields.fail("driver", "must be a CUDA version like \"12.6\", found \"" + *driver + "\"");
    }
    generation.ptx_ceiling = ptx_ceiling(*generation.driver);
    if (!generation.ptx_ceiling) {
      fields.fail("driver", "is CUDA " + *driver + ", older than any that teeny writes PTX for");
    }
  }
  return generation;
}

void read_cuda(const toml::table& table, const TomlOrigin& origin, Board& board) {
  TomlFields fields(table, origin, "cuda.");
  const std::string capability = fields.text("capability");
  const auto parsed = Capability::parse(capability);
  if (!parsed || find_capability(*parsed) == nullptr) {
    std::vector<std::string> known;
    for (const auto& row : known_capabilities()) known.push_back(row.capability.name());
    fields.fail("capability", "is \"" + capability + "\"; known: " + join(known, ", "));
  }
  board.capability = parsed;
  board.integrated = fields.truth("integrated");
  board.multiprocessors = fields.number("multiprocessors");
  board.shared_memory_kib = fields.number("shared_memory_kib");
  board.cuda_target_directory = fields.text("target_directory");
  fields.finish();
}

std::string choices(const std::vector<std::string>& names) { return join(names, ", "); }

void choose_generation(Board& board, std::string_view name, const std::string& option) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < board.generations.size(); ++i) {
    if (board.generations[i].name == name) {
      board.generation = i;
      return;
    }
    names.push_back(board.generations[i].name);
  }
  throw Error(ErrorKind::usage,
              option + ": " + board.name + " has no generation \"" + std::string(name) + "\"",
              "choose one of: " + choices(names));
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(boards_directory(), ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A generation may have a CUDA target directory of its own; Board holds the chosen one's.
struct Parsed {
  Board board;
  std::vector<std::string> target_directories;
};

Parsed parse(std::string_view text, const std::string& file) {
  const TomlOrigin origin = origin_of(file);
  const toml::table root = parse_toml(text, origin);
  TomlFields fields(root, origin, "");
  const int found_schema = fields.number("schema");
  if (found_schema != schema) {
    fields.fail("schema", "is " + std::to_string(found_schema) + "; this teeny reads " +
                              std::to_string(schema));
  }
  Parsed parsed;
  Board& board = parsed.board;
  board.name = plain_name_of(fields);
  board.description = fields.text("description");
  board.triple = fields.text("triple");
  if (board.triple != "aarch64-linux-gnu" && board.triple != "x86_64-linux-gnu") {
    fields.fail("triple",
                "must be aarch64-linux-gnu or x86_64-linux-gnu, found \"" + board.triple + "\"");
  }
  board.cpu = fields.text("cpu");
  board.memory_mib = fields.number("memory_mib");
  board.bandwidth_gbps = fields.number("bandwidth_gbps", 0);
  board.sysroot_directories = fields.texts("sysroot_directories");
  for (const auto& directory : board.sysroot_directories) {
    if (directory.front() != '/') {
      fields.fail("sysroot_directories", "must be absolute, found \"" + directory + "\"");
    }
  }
  if (const auto* cuda = fields.table("cuda")) read_cuda(*cuda, origin, board);
  std::size_t index = 0;
  for (const auto& node : *fields.tables("generation")) {
    TomlFields generation(*node.as_table(), origin, "generation[" + std::to_string(index++) + "].");
    board.generations.push_back(read_generation(generation, board.capability.has_value()));
    const std::string& name = board.generations.back().name;
    for (std::size_t other = 0; other + 1 < board.generations.size(); ++other) {
      if (board.generations[other].name == name) generation.fail("name", "repeats " + name);
    }
    const auto directory = generation.maybe_text("target_directory");
    if (directory && !board.capability) {
      generation.fail("target_directory", "is given, but the board has no [cuda] table");
    }
    parsed.target_directories.push_back(directory.value_or(board.cuda_target_directory));
    generation.finish();
  }
  fields.finish();
  return parsed;
}

Board chosen(Parsed parsed, std::optional<std::string_view> generation,
             const std::string& option = {}) {
  if (generation) choose_generation(parsed.board, *generation, option);
  parsed.board.cuda_target_directory = parsed.target_directories.at(parsed.board.generation);
  return parsed.board;
}

Board load(const fs::path& path, std::optional<std::string_view> generation,
           const std::string& option = {}) {
  return chosen(parse(read_file(path), path.string()), generation, option);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

Board parse_board(std::string_view text, const std::string& origin) {
  return chosen(parse(text, origin), std::nullopt);
}

Board read_board_file(const fs::path& path) { return load(path, std::nullopt); }

fs::path boards_directory() { return share_directory() / "boards"; }

std::vector<Board> shipped_boards() {
  std::vector<Board> boards;
  for (const auto& name : shipped_names()) {
    boards.push_back(read_board_file(boards_directory() / (name + ".toml")));
  }
  return boards;
}

Board find_board(std::string_view target, const std::string& option) {
  if (target.empty()) {
    throw Error(ErrorKind::usage, option + " is empty",
                "choose one of: " + choices(shipped_names()));
  }
  // A file's own name may hold an @.
  if (target.find('/') != std::string_view::npos || is_file(fs::path(target))) {
    if (is_file(fs::path(target))) return load(fs::path(target), std::nullopt);
  }
  std::string_view name = target;
  std::optional<std::string_view> generation;
  if (const auto at = target.rfind('@'); at != std::string_view::npos) {
    name = target.substr(0, at);
    generation = target.substr(at + 1);
  }
  constexpr std::string_view extension = ".toml";
  const bool toml =
      name.size() > extension.size() && name.substr(name.size() - extension.size()) == extension;
  if (name.find('/') != std::string_view::npos || toml) {
    if (is_file(fs::path(name))) return load(fs::path(name), generation, option);
    throw Error(ErrorKind::usage, option + ": there is no board file " + std::string(name),
                "name a file that exists, or one of: " + choices(shipped_names()));
  }
  const auto names = shipped_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const auto close = nearest(name, names);
    throw Error(ErrorKind::usage,
                option + ": unknown board \"" + std::string(name) + "\"" +
                    (close ? "; did you mean " + *close + "?" : ""),
                "choose one of: " + choices(names) + "; or name a board file (a path to a .toml)");
  }
  return load(boards_directory() / (std::string(name) + ".toml"), generation, option);
}

}  // namespace teeny::tool
