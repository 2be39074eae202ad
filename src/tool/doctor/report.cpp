#include <nlohmann/json.hpp>

#include "tool/doctor/diagnosis.hpp"
#include "tool/installation.hpp"
#include "tool/package/table.hpp"

#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

using nlohmann::ordered_json;

std::string name_or_dash(const std::optional<PtxVersion>& version) {
  return version ? version->name() : "-";
}

std::string abis(const AssemblerRow& row) {
  std::vector<std::string> words;
  for (const int abi : row.elf_abis) words.push_back(std::to_string(abi));
  return join(words, ", ");
}

// UTF-8 as it is; other bytes, which JSON cannot hold, escaped.
std::string text_of(const std::string& bytes) {
  try {
    static_cast<void>(ordered_json(bytes).dump());
    return bytes;
  } catch (const ordered_json::exception&) {
    return escape_bytes(bytes);
  }
}

}  // namespace

std::string as_text(const Diagnosis& diagnosis) {
  std::string text = "teeny " TEENY_VERSION " in " + prefix_directory().string() + "\n";
  if (const auto& compiler = diagnosis.compiler) {
    text += compiler->version + "\n  " + compiler->program.string() + ", identity " +
            compiler->identity.substr(0, 12) + "\n";
  }
  text += "\nassemblers, which make machine code of PTX:\n";
  std::vector<std::vector<std::string>> rows = {
      {"  CUDA", "PTX UP TO", "FOR", "ELF ABI", "DRIVERS", "PATH"}};
  for (const auto& row : diagnosis.assemblers) {
    const std::string chips = row.capabilities.empty()
                                  ? "-"
                                  : row.capabilities.front() + " to " + row.capabilities.back();
    rows.push_back({"  " + row.assembler.version.name(), name_or_dash(row.highest_ptx), chips,
                    abis(row), row.oldest_driver.name() + " and later",
                    row.assembler.program.string()});
  }
  text += diagnosis.assemblers.empty() ? "  none\n" : aligned(rows);
  for (const auto& row : diagnosis.assemblers) {
    if (row.boards.empty()) continue;
    text += "  " + row.assembler.version.name() + " is taken for " + join(row.boards, ", ") + "\n";
  }
  for (const auto& other : diagnosis.unusable) {
    text += "  not usable: " + other.program.string() + ": " + other.why + "\n";
  }
  text += "\nprograms:\n";
  rows.clear();
  for (const auto& row : diagnosis.tools) {
    rows.push_back({"  " + row.name, row.usage,
                    row.program  ? row.program->string()
                    : row.needed ? "missing"
                                 : "missing (not needed otherwise)",
                    row.version});
  }
  text += aligned(rows);
  if (diagnosis.problems.empty()) return text + "\nnothing is missing\n";
  text += "\nmissing:\n";
  for (const auto& problem : diagnosis.problems) {
    text += "  " + problem.what + "\n    " + problem.next + "\n";
  }
  return text;
}

std::string as_json(const Diagnosis& diagnosis) {
  ordered_json root;
  root["schema"] = "teeny-doctor/1";
  root["teeny"] = {{"version", TEENY_VERSION}, {"prefix", text_of(prefix_directory().string())}};
  root["teenyc"] = nullptr;
  if (const auto& compiler = diagnosis.compiler) {
    root["teenyc"] = {{"path", text_of(compiler->program.string())},
                      {"version", text_of(compiler->version)},
                      {"identity", compiler->identity}};
  }
  root["assemblers"] = ordered_json::array();
  for (const auto& row : diagnosis.assemblers) {
    ordered_json entry;
    entry["path"] = text_of(row.assembler.program.string());
    entry["version"] = row.assembler.version.name();
    if (row.highest_ptx) entry["highest_ptx"] = row.highest_ptx->name();
    entry["capabilities"] = row.capabilities;
    entry["elf_abi"] = row.elf_abis;
    entry["oldest_driver"] = row.oldest_driver.name();
    entry["boards"] = row.boards;
    root["assemblers"].push_back(std::move(entry));
  }
  root["unusable_assemblers"] = ordered_json::array();
  for (const auto& other : diagnosis.unusable) {
    root["unusable_assemblers"].push_back(
        {{"path", text_of(other.program.string())}, {"why", text_of(other.why)}});
  }
  root["programs"] = ordered_json::array();
  for (const auto& row : diagnosis.tools) {
    ordered_json entry = {{"name", row.name}, {"usage", row.usage}, {"needed", row.needed}};
    entry["path"] = row.program ? ordered_json(text_of(row.program->string())) : ordered_json();
    entry["version"] = text_of(row.version);
    root["programs"].push_back(std::move(entry));
  }
  root["problems"] = ordered_json::array();
  for (const auto& problem : diagnosis.problems) {
    root["problems"].push_back({{"what", text_of(problem.what)}, {"next", text_of(problem.next)}});
  }
  return root.dump(2) + "\n";
}

}  // namespace teeny::tool
