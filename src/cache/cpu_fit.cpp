#include "cpu_fit.hpp"

#include <algorithm>
#include <vector>

#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace teeny::detail {

namespace {

using Words = std::vector<std::string_view>;

// What code for a processor may use of its own accord, beyond the base of its triple. Only what a
// compiler picks by itself counts: no kernel of ours uses cryptography or random numbers of the
// chip.
struct Needs {
  std::string_view cpu;
  std::string_view level;  ///< x86-64: the portable level
  Words features;
};

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const std::vector<Needs>& table() {
  static const Words arm82 = {"asimd", "crc32", "atomics", "asimdrdm", "fphp", "asimdhp"};
  static const Words arm82_dot = arm82 + Words{"asimddp", "lrcpc"};
  static const Words sve = arm82_dot + Words{"jscvt", "fcma", "sve", "i8mm", "bf16"};
  static const Words sve2 = sve + Words{"sve2"};
  static const Words icelake = {"avx512vbmi",    "avx512_vbmi2", "avx512_vnni",
                                "avx512_bitalg", "avx512ifma",   "avx512_vpopcntdq",
                                "gfni",          "vaes",         "vpclmulqdq"};
  static const std::vector<Needs> rows = {
      {"x86-64-v3", "x86-64-v3", {}},
      {"haswell", "x86-64-v3", {}},
      {"skylake", "x86-64-v3", {}},
      {"znver3", "x86-64-v3", {"vaes", "vpclmulqdq"}},
      {"x86-64-v4", "x86-64-v4", {}},
      {"skylake-avx512", "x86-64-v4", {}},
      {"icelake-server", "x86-64-v4", icelake},
      {"znver4", "x86-64-v4", icelake + Words{"avx512_bf16"}},
      {"znver5", "x86-64-v4", icelake + Words{"avx512_bf16", "avx_vnni", "avx512_vp2intersect"}},
      {"sapphirerapids", "x86-64-v4", icelake + Words{"avx512_bf16", "avx512_fp16", "avx_vnni"}},
      {"generic", "", {"asimd"}},
      {"cortex-a57", "", {"asimd", "crc32"}},
      {"cortex-a72", "", {"asimd", "crc32"}},
      {"carmel", "", arm82},
      {"cortex-a76", "", arm82_dot},
      {"cortex-a78", "", arm82_dot},
      {"cortex-a78ae", "", arm82_dot},
      {"neoverse-n1", "", arm82_dot},
      {"neoverse-v1", "", sve},
      {"neoverse-n2", "", sve2},
      {"neoverse-v2", "", sve2},
      {"neoverse-v3", "", sve2},
      {"neoverse-v3ae", "", sve2},
  };
  return rows;
}

// LLVM's feature names, as the features option takes them, in the system's words.
struct Named {
  std::string_view feature;
  Words system;
};

const std::vector<Named>& named_features() {
  static const std::vector<Named> rows = {
      {"dotprod", {"asimddp"}},
      {"fullfp16", {"fphp", "asimdhp"}},
      {"fp16fml", {"asimdfhm"}},
      {"bf16", {"bf16"}},
      {"i8mm", {"i8mm"}},
      {"sve", {"sve"}},
      {"sve2", {"sve2"}},
      {"lse", {"atomics"}},
      {"rdm", {"asimdrdm"}},
      {"rcpc", {"lrcpc"}},
      {"crc", {"crc32"}},
      {"complxnum", {"fcma"}},
      {"jsconv", {"jscvt"}},
      {"avx512f", {"avx512f"}},
      {"avx512vl", {"avx512vl"}},
      {"avx512bw", {"avx512bw"}},
      {"avx512dq", {"avx512dq"}},
      {"avx512cd", {"avx512cd"}},
      {"avx512vnni", {"avx512_vnni"}},
      {"avx512bf16", {"avx512_bf16"}},
      {"avx512fp16", {"avx512_fp16"}},
      {"avx512vbmi", {"avx512vbmi"}},
      {"avx512vbmi2", {"avx512_vbmi2"}},
      {"avxvnni", {"avx_vnni"}},
      {"gfni", {"gfni"}},
      {"vaes", {"vaes"}},
  };
  return rows;
}

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view key,
                    std::string_view Row::* name) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.*name == key; });
  return at == rows.end() ? nullptr : &*at;
}

std::string_view machine(std::string_view triple) { return triple.substr(0, triple.find('-')); }

bool refuse(std::string* why, const std::string& text) {
  if (why != nullptr) *why = text;
  return false;
}

bool has_all(const Words& wanted, const Processor& processor, const std::string& for_whom,
             std::string* why) {
  for (const std::string_view feature : wanted) {
    if (processor.features.count(feature) != 0) continue;
    return refuse(why, "wanted a processor with " + std::string(feature) + " for " + for_whom +
                           ", " + processor.holder + " (" + processor.target.cpu + ") has none");
  }
  return true;
}

int level_of(std::string_view name) {
  return name == "x86-64-v4" ? 2 : name == "x86-64-v3" ? 1 : 0;
}

int level_of_cpu(std::string_view cpu) {
  const Needs* row = find_row(table(), cpu, &Needs::cpu);
  return row == nullptr ? 0 : level_of(row->level);
}

}  // namespace

std::set<std::string, std::less<>> arm_features(unsigned long hwcap, unsigned long hwcap2) {
  struct Bit {
    bool second;
    int index;
    const char* name;
  };
  // From the kernel's arch/arm64 list of hwcaps, which never changes its numbers.
  constexpr Bit bits[] = {{false, 0, "fp"},        {false, 1, "asimd"},    {false, 7, "crc32"},
                          {false, 8, "atomics"},   {false, 9, "fphp"},     {false, 10, "asimdhp"},
                          {false, 12, "asimdrdm"}, {false, 13, "jscvt"},   {false, 14, "fcma"},
                          {false, 15, "lrcpc"},    {false, 20, "asimddp"}, {false, 22, "sve"},
                          {false, 23, "asimdfhm"}, {true, 1, "sve2"},      {true, 13, "i8mm"},
                          {true, 14, "bf16"}};
  std::set<std::string, std::less<>> features;
  for (const Bit& bit : bits) {
    if (((bit.second ? hwcap2 : hwcap) >> bit.index & 1) != 0) features.insert(bit.name);
  }
  return features;
}

#if defined(__aarch64__)

std::set<std::string, std::less<>> processor_features() {
  constexpr unsigned long second_word = 26;  // AT_HWCAP2, absent from old headers
  return arm_features(::getauxval(AT_HWCAP), ::getauxval(second_word));
}

#else

std::set<std::string, std::less<>> processor_features() {
  std::set<std::string, std::less<>> features;
  const auto text = read_file_if_exists("/proc/cpuinfo").value_or("");
  const auto at = text.find("\nflags");
  if (at == std::string::npos) return features;
  const auto colon = text.find(':', at);
  const auto end = text.find('\n', at + 1);
  if (colon == std::string::npos || colon > end) return features;
  for (auto& word : split(std::string_view(text).substr(colon + 1, end - colon - 1), ' ')) {
    if (!word.empty()) features.insert(std::move(word));
  }
  return features;
}

#endif

Processor processor_of(const Board& board) {
  Processor processor{{board.triple, board.cpu, {}}, {}, "board " + board.full_name()};
  if (const Needs* row = find_row(table(), std::string_view(board.cpu), &Needs::cpu)) {
    processor.features.insert(row->features.begin(), row->features.end());
  }
  return processor;
}

bool cpu_fits(const CpuTarget& wanted, const Processor& processor, std::string* why) {
  const CpuTarget& has = processor.target;
  if (machine(wanted.triple) != machine(has.triple)) {
    return refuse(why, "wanted a machine of " + wanted.triple + ", " + processor.holder + " is " +
                           has.triple);
  }
  const std::string for_whom = wanted.cpu + (wanted.features.empty() ? "" : wanted.features);
  if (wanted.cpu != has.cpu) {
    const Needs* needs = find_row(table(), wanted.cpu, &Needs::cpu);
    if (needs == nullptr) {
      return refuse(why, "wanted " + wanted.cpu + ", " + processor.holder + " is " + has.cpu +
                             ", and whether that is enough is not known");
    }
    if (level_of(needs->level) > level_of_cpu(has.cpu)) {
      return refuse(why, "wanted " + std::string(needs->level) + " for " + wanted.cpu + ", " +
                             processor.holder + " has " + has.cpu);
    }
    if (!has_all(needs->features, processor, for_whom, why)) return false;
  }
  for (const std::string& feature : split(wanted.features, '+')) {
    if (feature.empty() || feature.front() == '-') continue;
    const Named* named = find_row(named_features(), feature, &Named::feature);
    if (named == nullptr) {
      return refuse(why, "wanted " + feature + ", and whether " + processor.holder + " (" +
                             has.cpu + ") has it cannot be told");
    }
    if (!has_all(named->system, processor, for_whom, why)) return false;
  }
  return true;
}

int cpu_rank(const CpuTarget& wanted, const Processor& processor) {
  if (wanted.cpu == processor.target.cpu) return 1000;
  const Needs* needs = find_row(table(), wanted.cpu, &Needs::cpu);
  if (needs == nullptr) return 0;
  return 100 * level_of(needs->level) + static_cast<int>(needs->features.size());
}

}  // namespace teeny::detail
