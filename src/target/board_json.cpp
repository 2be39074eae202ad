#include "teeny/target/board_json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "teeny/base/error.hpp"

namespace teeny {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json generation_json(const BoardGeneration& generation) {
  ordered_json entry;
  entry["name"] = generation.name;
  if (!generation.l4t.empty()) entry["l4t"] = generation.l4t;
  entry["os"] = generation.os;
  entry["glibc"] = generation.glibc;
  entry["glibcxx"] = generation.glibcxx;
  if (generation.driver) entry["driver"] = generation.driver->name();
  if (generation.ptx_ceiling) entry["ptx_ceiling"] = generation.ptx_ceiling->name();
  return entry;
}

[[noreturn]] void bad_field(const std::string& field, const json& value) {
  throw Error(ErrorKind::input, "\"" + field + "\" is " + value.dump());
}

template <class Parse>
auto parsed_field(const json& object, const char* field, const Parse& parse) {
  auto value = parse(object.at(field).get<std::string>());
  if (!value) bad_field(field, object.at(field));
  return value;
}

int count_field(const json& object, const char* field) {
  const json& value = object.at(field);
  constexpr std::uint64_t most = 1'000'000'000;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) bad_field(field, value);
  return value.get<int>();
}

BoardGeneration read_generation(const json& entry) {
  BoardGeneration generation;
  entry.at("name").get_to(generation.name);
  generation.l4t = entry.value("l4t", "");
  entry.at("os").get_to(generation.os);
  entry.at("glibc").get_to(generation.glibc);
  entry.at("glibcxx").get_to(generation.glibcxx);
  if (entry.contains("driver"))
    generation.driver = parsed_field(entry, "driver", DriverVersion::parse);
  if (entry.contains("ptx_ceiling")) {
    generation.ptx_ceiling = parsed_field(entry, "ptx_ceiling", PtxVersion::parse);
  }
  return generation;
}

Board read_board(const json& root) {
  const int schema = count_field(root, "schema");
  if (schema > board_json_schema) {
    throw Error(ErrorKind::input, "written in format " + std::to_string(schema) +
                                      " of boards, and this teeny reads up to format " +
                                      std::to_string(board_json_schema));
  }
  Board board;
  root.at("name").get_to(board.name);
  root.at("description").get_to(board.description);
  root.at("triple").get_to(board.triple);
  root.at("cpu").get_to(board.cpu);
  board.memory_mib = count_field(root, "memory_mib");
  board.bandwidth_gbps = count_field(root, "bandwidth_gbps");
  root.at("sysroot_directories").get_to(board.sysroot_directories);
  if (const json& cuda = root.at("cuda"); !cuda.is_null()) {
    board.capability = parsed_field(cuda, "capability", Capability::parse);
    cuda.at("integrated").get_to(board.integrated);
    board.multiprocessors = count_field(cuda, "multiprocessors");
    board.shared_memory_kib = count_field(cuda, "shared_memory_kib");
    cuda.at("target_directory").get_to(board.cuda_target_directory);
  }
  for (const json& entry : root.at("generations")) {
    board.generations.push_back(read_generation(entry));
  }
  const auto chosen = root.at("generation").get<std::string>();
  const auto at = std::find_if(board.generations.begin(), board.generations.end(),
                               [&](const auto& one) { return one.name == chosen; });
  if (at == board.generations.end()) bad_field("generation", chosen);
  board.generation = static_cast<std::size_t>(at - board.generations.begin());
  if (board.capability && !board.chosen().driver) {
    throw Error(ErrorKind::input,
                "generation " + chosen + " of a board with a CUDA device has no driver");
  }
  return board;
}

}  // namespace

std::string board_to_json(const Board& board) {
  ordered_json root;
  root["schema"] = board_json_schema;
  root["name"] = board.name;
  root["description"] = board.description;
  root["triple"] = board.triple;
  root["cpu"] = board.cpu;
  root["memory_mib"] = board.memory_mib;
  root["bandwidth_gbps"] = board.bandwidth_gbps;
  root["sysroot_directories"] = board.sysroot_directories;
  root["cuda"] = nullptr;
  if (board.capability) {
    root["cuda"] = {{"capability", board.capability->name()},
                    {"integrated", board.integrated},
                    {"multiprocessors", board.multiprocessors},
                    {"shared_memory_kib", board.shared_memory_kib},
                    {"target_directory", board.cuda_target_directory}};
  }
  root["generation"] = board.chosen().name;
  root["generations"] = ordered_json::array();
  for (const auto& generation : board.generations) {
    root["generations"].push_back(generation_json(generation));
  }
  return root.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

Board board_from_json(std::string_view text, const std::string& origin) {
  const std::string next = "`teeny boards NAME --json` writes such a file";
  try {
    return read_board(json::parse(text));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::input, origin + ": wanted a board as JSON, found: " + error.what(),
                next);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, origin + ": wanted a board as JSON, found: " + error.message(),
                next);
  }
}

}  // namespace teeny
