#include "tool/package/elf_check.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

struct Family {
  std::string name;    ///< "GLIBCXX"
  std::string number;  ///< "3.4.29"
};

// "GLIBC_2.34" -> GLIBC, 2.34; nullopt for GLIBC_PRIVATE and the like.
std::optional<Family> family_of(const std::string& version) {
  // The loader must know packed relocations, which came with this release.
  if (version == "GLIBC_ABI_DT_RELR") return Family{"GLIBC", "2.36"};
  const auto line = version.rfind('_');
  if (line == std::string::npos || line + 1 == version.size()) return std::nullopt;
  const std::string number = version.substr(line + 1);
  if (number.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  return Family{version.substr(0, line), number};
}

// libstdc++, its ABI library and libgcc_s come out of one GCC release; the board file names the
// first (source: GCC's ABI policy and guidelines, the table of versioning).
struct GccRelease {
  const char* glibcxx;
  const char* cxxabi;
  const char* gcc;
};
constexpr GccRelease gcc_releases[] = {
    {"3.4.25", "1.3.11", "8.0.0"},  {"3.4.28", "1.3.12", "10.0.0"}, {"3.4.29", "1.3.13", "11.0.0"},
    {"3.4.30", "1.3.13", "12.0.0"}, {"3.4.32", "1.3.14", "13.0.0"}, {"3.4.33", "1.3.15", "14.0.0"},
};

// Of what is not known of a board there is no limit.
std::map<std::string, std::string> limits_of(const Board& board) {
  const auto& generation = board.chosen();
  std::map<std::string, std::string> limits;
  if (!generation.glibc.empty()) limits["GLIBC"] = generation.glibc;
  if (generation.glibcxx.empty()) return limits;
  limits["GLIBCXX"] = generation.glibcxx;
  for (const auto& release : gcc_releases) {
    if (compare_versions(release.glibcxx, generation.glibcxx) > 0) break;
    limits["CXXABI"] = release.cxxabi;
    limits["GCC"] = release.gcc;
  }
  return limits;
}

std::uint16_t machine_of(const Board& board) {
  return board.triple.rfind("aarch64", 0) == 0 ? elf_aarch64 : elf_x86_64;
}

bool board_has(const Board& board, const std::string& library) {
  static const std::vector<std::string> everywhere = {
      "libc.so.6",       "libm.so.6",  "libstdc++.so.6",        "libgcc_s.so.1",       "libdl.so.2",
      "libpthread.so.0", "librt.so.1", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"};
  if (library == "libcuda.so.1") return board.capability.has_value();
  return std::find(everywhere.begin(), everywhere.end(), library) != everywhere.end();
}

std::string some_symbols(const VersionNeed& need) {
  if (need.symbols.empty()) return "";
  std::string text = " (" + need.symbols.front();
  if (need.symbols.size() > 1) text += " and " + std::to_string(need.symbols.size() - 1) + " more";
  return text + ")";
}

}  // namespace

const char* loader_of(const Board& board) {
  return board.triple.rfind("aarch64", 0) == 0 ? "/lib/ld-linux-aarch64.so.1"
                                               : "/lib64/ld-linux-x86-64.so.2";
}

int compare_versions(const std::string& a, const std::string& b) {
  const auto left = split(a, '.');
  const auto right = split(b, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const auto x = i < left.size() ? parse_unsigned(left[i]).value_or(0) : 0;
    const auto y = i < right.size() ? parse_unsigned(right[i]).value_or(0) : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

std::vector<std::pair<std::string, std::string>> highest_versions(const ElfInfo& elf) {
  std::map<std::string, std::string> highest;
  for (const auto& need : elf.needs) {
    const auto family = family_of(need.version);
    if (!family) continue;
    auto& so_far = highest[family->name];
    if (so_far.empty() || compare_versions(family->number, so_far) > 0) so_far = family->number;
  }
  return {highest.begin(), highest.end()};
}

std::vector<Finding> check_elf(const ElfInfo& elf, const std::string& name, const Board& board,
                               const std::vector<std::string>& packaged) {
  std::vector<Finding> findings;
  const auto add = [&](int code, const std::string& text, const std::string& next) {
    findings.push_back({code, name + ": " + text, next});
  };
  const std::string full = board.full_name();
  if (elf.machine != machine_of(board)) {
    add(finding_code::c_library,
        "wanted a program for " + elf_machine_name(machine_of(board)) + " (" + full +
            "), found one for " + elf_machine_name(elf.machine),
        "build it with `teeny build --target " + full + "`");
    return findings;
  }
  if (!elf.interpreter.empty() && elf.interpreter != loader_of(board)) {
    add(finding_code::c_library,
        "wants the loader " + elf.interpreter + ", " + full + " has " + loader_of(board),
        "build it with the toolchain of the board");
  }
  const auto limits = limits_of(board);
  for (const auto& need : elf.needs) {
    const auto family = family_of(need.version);
    if (!family) continue;
    const auto limit = limits.find(family->name);
    if (limit == limits.end() || compare_versions(family->number, limit->second) <= 0) continue;
    add(finding_code::c_library,
        "wanted " + need.version + " of " + need.library + some_symbols(need) + ", " + full +
            " has up to " + family->name + "_" + limit->second,
        "build against the board's own libraries (an older C library: `teeny sysroot --help`), or "
        "name a later generation of the board");
  }
  for (const auto& library : elf.needed) {
    if (board_has(board, library) ||
        std::find(packaged.begin(), packaged.end(), library) != packaged.end()) {
      continue;
    }
    add(finding_code::c_library,
        "wanted the library " + library + ", which " + full +
            " is not known to have and the package does not hold",
        "link it statically");
  }
  for (const auto& path : elf.run_paths) {
    if (path.empty() || path.rfind("$ORIGIN", 0) == 0) continue;
    add(finding_code::c_library,
        "has the library search path " + path + " of the machine it was built on",
        "set CMAKE_SKIP_RPATH, or a path that begins with $ORIGIN");
  }
  return findings;
}

}  // namespace teeny::tool
