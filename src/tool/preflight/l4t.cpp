#include "tool/preflight/l4t.hpp"

#include <algorithm>
#include <set>

#include "tool/package/elf_check.hpp"

#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

// "R36.4.3" -> "36.4.3", which compares as a version.
std::string number_of(const std::string& l4t) {
  return l4t.substr(std::min<std::size_t>(1, l4t.size()));
}

std::string major_of(const std::string& l4t) { return split(l4t, '.').front(); }

struct Chip {
  std::string_view compatible;
  Capability capability;
};
// Source: Linux, Documentation/devicetree/bindings/arm/tegra.yaml; capabilities: NVIDIA's list of
// CUDA GPUs.
constexpr Chip chips[] = {
    {"nvidia,tegra194", Capability::sm_72},   // Xavier
    {"nvidia,tegra234", Capability::sm_87},   // Orin
    {"nvidia,tegra264", Capability::sm_110},  // Thor
};

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      word += lower;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

}  // namespace

std::optional<std::string> parse_l4t(std::string_view text) {
  const auto after = [&text](std::string_view label) -> std::optional<std::string> {
    const auto at = text.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(at + label.size());
    const auto end = rest.find_first_not_of("0123456789.");
    const std::string number(rest.substr(0, end));
    if (number.empty() || number.front() == '.' || number.back() == '.') return std::nullopt;
    return number;
  };
  const auto major = after("# R");
  const auto revision = after("REVISION: ");
  if (!major || !revision) return std::nullopt;
  return "R" + *major + "." + *revision;
}

std::vector<Board> boards_of_l4t(const std::string& l4t, const std::vector<Board>& boards) {
  std::vector<Board> found;
  for (Board board : boards) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < board.generations.size(); ++i) {
      const std::string& row = board.generations[i].l4t;
      if (row.empty() || major_of(row) != major_of(l4t)) continue;
      const bool reached = compare_versions(number_of(row), number_of(l4t)) <= 0;
      if (!best || reached) best = i;
    }
    if (!best) continue;
    board.generation = *best;
    found.push_back(std::move(board));
  }
  return found;
}

std::vector<Board> boards_of_device_tree(std::string_view compatible, std::string_view model,
                                         std::vector<Board> boards) {
  for (const Chip& chip : chips) {
    if (compatible.find(chip.compatible) == std::string_view::npos) continue;
    boards.erase(
        std::remove_if(boards.begin(), boards.end(),
                       [&](const Board& board) { return board.capability != chip.capability; }),
        boards.end());
  }
  const auto said = words_of(model);
  std::vector<Board> meant;
  for (const Board& board : boards) {
    const auto words = words_of(board.name);
    if (std::includes(said.begin(), said.end(), words.begin(), words.end())) meant.push_back(board);
  }
  return meant.empty() ? boards : meant;
}

}  // namespace teeny::tool
