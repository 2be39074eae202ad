#include <fstream>
#include <string>

#include "host_cpu.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"
#include "teeny/target/target.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace teeny {

namespace {
constexpr std::string_view x86_triple = "x86_64-linux-gnu";
constexpr std::string_view arm_triple = "aarch64-linux-gnu";
}  // namespace

const std::vector<KnownCpu>& known_cpus() {
  // Names as LLVM 19 spells them. x86-64 and x86-64-v2 are missing: kernels need FMA.
  static const std::vector<KnownCpu> table = {
      {"x86-64-v3", x86_triple},      {"x86-64-v4", x86_triple},
      {"haswell", x86_triple},        {"skylake", x86_triple},
      {"skylake-avx512", x86_triple}, {"icelake-server", x86_triple},
      {"sapphirerapids", x86_triple}, {"znver3", x86_triple},
      {"znver4", x86_triple},         {"znver5", x86_triple},
      {"generic", arm_triple},        {"cortex-a57", arm_triple},
      {"cortex-a72", arm_triple},     {"cortex-a76", arm_triple},
      {"cortex-a78", arm_triple},     {"cortex-a78ae", arm_triple},
      {"carmel", arm_triple},         {"neoverse-n1", arm_triple},
      {"neoverse-n2", arm_triple},    {"neoverse-v1", arm_triple},
      {"neoverse-v2", arm_triple},    {"neoverse-v3", arm_triple},
      {"neoverse-v3ae", arm_triple},
  };
  return table;
}

std::optional<std::string> normal_triple(std::string_view triple) {
  for (const std::string_view machine : {"x86_64", "aarch64"}) {
    const std::string plain = std::string(machine) + "-linux-gnu";
    if (triple == plain || triple == std::string(machine) + "-unknown-linux-gnu") return plain;
  }
  return std::nullopt;
}

std::vector<std::string> feature_list(std::string_view features) {
  if (features.empty()) return {};
  auto items = split(features, '+');
  // "+a+b" and "a+b" are the same list.
  if (items.size() > 1 && items.front().empty()) items.erase(items.begin());
  for (auto& item : items) {
    const bool off = item.rfind('-', 0) == 0;
    const std::string name = off ? item.substr(1) : item;
    const bool starts_well = !name.empty() && name.front() >= 'a' && name.front() <= 'z';
    if (!starts_well ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-._") != std::string::npos) {
      throw Error(ErrorKind::usage,
                  "features=" + std::string(features) +
                      ": wanted names joined by +, each with a - before it to switch it off, found "
                      "the item \"" +
                      item + "\"",
                  "for example features=+dotprod+fp16fml or features=+dotprod+-sve");
    }
    item = (off ? "-" : "+") + name;
  }
  return items;
}

namespace detail {

std::string_view x86_level(const X86Features& has) noexcept {
  if (!(has.avx2 && has.fma && has.bmi && has.bmi2 && has.f16c && has.lzcnt && has.movbe)) {
    return {};
  }
  return has.avx512 ? "x86-64-v4" : "x86-64-v3";
}

std::string_view arm_cpu(std::string_view cpuinfo) noexcept {
  struct Part {
    unsigned implementer;
    unsigned part;
    std::string_view name;
  };
  // The main identification register's fields, from Arm's technical reference manuals.
  constexpr Part parts[] = {
      {0x41, 0xd07, "cortex-a57"},  {0x41, 0xd08, "cortex-a72"},    {0x41, 0xd0b, "cortex-a76"},
      {0x41, 0xd41, "cortex-a78"},  {0x41, 0xd42, "cortex-a78ae"},  {0x41, 0xd0c, "neoverse-n1"},
      {0x41, 0xd49, "neoverse-n2"}, {0x41, 0xd40, "neoverse-v1"},   {0x41, 0xd4f, "neoverse-v2"},
      {0x41, 0xd84, "neoverse-v3"}, {0x41, 0xd83, "neoverse-v3ae"}, {0x4e, 0x004, "carmel"},
  };
  const auto hexadecimal = [](std::string_view text) noexcept {
    unsigned value = 0;
    for (const char c : text) {
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return value == 0 ? 0U : value;
      value = value * 16 + static_cast<unsigned>(digit);
    }
    return value;
  };
  std::string_view found;
  unsigned implementer = 0;
  while (!cpuinfo.empty()) {
    const auto end = cpuinfo.find('\n');
    const std::string_view line = cpuinfo.substr(0, end);
    cpuinfo.remove_prefix(end == std::string_view::npos ? cpuinfo.size() : end + 1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    std::string_view value = trim(line.substr(colon + 1));
    if (value.rfind("0x", 0) == 0) value.remove_prefix(2);
    if (key == "CPU implementer") implementer = hexadecimal(value);
    if (key != "CPU part") continue;
    std::string_view name = "generic";
    for (const Part& part : parts) {
      if (part.implementer == implementer && part.part == hexadecimal(value)) name = part.name;
    }
    // Cores of several kinds in one machine: only what all of them can run is safe.
    if (!found.empty() && found != name) return "generic";
    found = name;
  }
  return found.empty() ? "generic" : found;
}

}  // namespace detail

#if defined(__x86_64__)

namespace {

detail::X86Features ask_processor() noexcept {
  detail::X86Features has;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return has;
  const auto bit = [](unsigned word, unsigned index) { return (word >> index & 1U) != 0; };
  has.movbe = bit(c, 22);
  // Vector registers count only when the system saves them: XCR0 says which.
  unsigned saved = 0;
  if (bit(c, 27)) {
    unsigned upper = 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  }
  const bool saves_avx = (saved & 0x6U) == 0x6U;
  const bool saves_avx512 = (saved & 0xe6U) == 0xe6U;
  has.fma = bit(c, 12) && saves_avx;
  has.f16c = bit(c, 29) && saves_avx;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    has.bmi = bit(b, 3);
    has.bmi2 = bit(b, 8);
    has.avx2 = bit(b, 5) && saves_avx;
    // F, DQ, CD, BW and VL together make the level.
    has.avx512 = bit(b, 16) && bit(b, 17) && bit(b, 28) && bit(b, 30) && bit(b, 31) && saves_avx512;
  }
  if (__get_cpuid(0x80000001U, &a, &b, &c, &d) != 0) has.lzcnt = bit(c, 5);
  return has;
}

}  // namespace

CpuTarget host_cpu_target() {
  const std::string_view level = detail::x86_level(ask_processor());
  if (level.empty()) {
    throw Error(ErrorKind::environment,
                "wanted a processor of level x86-64-v3 (AVX2 and FMA), found one below it",
                "name the processor that will run the kernels: --device cpu --options cpu=...");
  }
  return CpuTarget{std::string(x86_triple), std::string(level), {}};
}

#elif defined(__aarch64__)

CpuTarget host_cpu_target() {
  std::ifstream file("/proc/cpuinfo", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return CpuTarget{std::string(arm_triple), std::string(detail::arm_cpu(text)), {}};
}

#else

CpuTarget host_cpu_target() {
  throw Error(ErrorKind::environment,
              "wanted an x86-64 or AArch64 processor, found one that teeny has no kernels for");
}

#endif

}  // namespace teeny
