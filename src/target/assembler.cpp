#include "teeny/target/assembler.hpp"

#include <algorithm>
#include <limits>

#include "loading_rules.hpp"

#include "teeny/base/text.hpp"

namespace teeny {

namespace {

constexpr std::string_view assembler_program = "ptxas";

// NVIDIA's numbers for the two interfaces that ptxas writes.
constexpr ElfAbi abi_7{0x33, 7};
constexpr ElfAbi abi_8{0x41, 8};

std::optional<int> version_number(std::string_view text) noexcept {
  const auto value = parse_unsigned(text);
  if (!value || *value > 9999 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return static_cast<int>(*value);
}

// Stands for the newest release of a row.
AssemblerVersion newest_of(const AssemblerInfo& row) {
  return {row.major, std::numeric_limits<int>::max(), 0};
}

PtxVersion version_or_floor(Capability capability, std::optional<PtxVersion> version) {
  const CapabilityInfo* chip = find_capability(capability);
  return version.value_or(chip == nullptr ? PtxVersion{} : chip->ptx_floor);
}

}  // namespace

std::optional<AssemblerVersion> AssemblerVersion::parse(std::string_view text) noexcept {
  const auto first = text.find('.');
  const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto major = version_number(text.substr(0, first));
  const auto minor = version_number(text.substr(first + 1, second - first - 1));
  const auto build = version_number(text.substr(second + 1));
  if (!major || !minor || !build) return std::nullopt;
  return AssemblerVersion{*major, *minor, *build};
}

std::string AssemblerVersion::name() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

std::string assembler_name(AssemblerVersion version) {
  return std::string(assembler_program) + " " + version.name();
}

std::optional<AssemblerVersion> parse_assembler(std::string_view name) noexcept {
  if (name.substr(0, assembler_program.size()) != assembler_program) return std::nullopt;
  name.remove_prefix(assembler_program.size());
  if (name.empty() || name.front() != ' ') return std::nullopt;
  return AssemblerVersion::parse(name.substr(1));
}

const std::vector<AssemblerInfo>& known_assemblers() {
  // Lowest capability: NVIDIA's release notes of CUDA 11.0, 12.0 and 13.0, and what ptxas 11.8.89,
  // 12.9.86 and 13.0.88 list and refuse. ELF interface: read off what these three and 12.8.93
  // write. Drivers: NVIDIA's CUDA compatibility guide (machine code runs on any driver of its major
  // release or a later one, PTX has no such promise).
  static const std::vector<AssemblerInfo> table = {
      {11, {3, 5}, abi_7, abi_7, {11, 0}, "nvidia-cuda-nvcc-cu11"},
      {12, {5, 0}, abi_7, abi_8, {12, 0}, "nvidia-cuda-nvcc-cu12"},
      {13, {7, 5}, abi_8, abi_8, {13, 0}, "nvidia-cuda-nvcc"},
  };
  return table;
}

const AssemblerInfo* find_assembler_info(AssemblerVersion version) noexcept {
  const AssemblerInfo* found = nullptr;
  for (const AssemblerInfo& row : known_assemblers()) {
    if (row.major <= version.major) found = &row;
  }
  return found;
}

std::optional<PtxVersion> highest_ptx(AssemblerVersion version) noexcept {
  return ptx_ceiling({version.major, version.minor});
}

std::optional<ElfAbi> elf_abi(AssemblerVersion version, Capability capability) noexcept {
  const AssemblerInfo* row = find_assembler_info(version);
  if (row == nullptr || capability.number() < row->lowest.number()) return std::nullopt;
  return capability.major() >= 10 ? row->abi_of_10 : row->abi;
}

bool assembles(AssemblerVersion assembler, Capability capability, PtxVersion version,
               std::string* why) {
  const std::string name = assembler_name(assembler);
  const AssemblerInfo* row = find_assembler_info(assembler);
  const auto highest = highest_ptx(assembler);
  if (row == nullptr || !highest) {
    return detail::refuse(
        why, "wanted ptxas of CUDA " + oldest_driver().name() + " or later, found " + name);
  }
  if (capability.number() < row->lowest.number()) {
    return detail::refuse(why, "wanted an assembler for " + capability.name() + ", found " + name +
                                   ", which begins at " + row->lowest.name());
  }
  const PtxVersion needed = std::max(version, version_or_floor(capability, std::nullopt));
  if (needed <= *highest) return true;
  return detail::refuse(why, "wanted an assembler that reads PTX " + needed.name() +
                                 (needed > version ? ", the floor of " + capability.name() : "") +
                                 ", found " + name + ", which reads up to PTX " + highest->name());
}

bool driver_takes(DriverVersion driver, AssemblerVersion assembler, std::string* why,
                  const std::string& holder) {
  if (assembler.major <= driver.major) return true;
  return detail::refuse(why, "wanted a driver of CUDA " + std::to_string(assembler.major) +
                                 ".0 or later for machine code of " + assembler_name(assembler) +
                                 ", " + holder + " has driver " + driver.name() +
                                 ": update the driver, or assemble with ptxas of CUDA " +
                                 std::to_string(driver.major));
}

std::optional<std::size_t> choose_assembler(const std::vector<AssemblerVersion>& installed,
                                            DriverVersion driver, Capability capability,
                                            std::optional<PtxVersion> version) {
  const PtxVersion needed = version_or_floor(capability, version);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < installed.size(); ++i) {
    if (!driver_takes(driver, installed[i]) || !assembles(installed[i], capability, needed)) {
      continue;
    }
    if (!best || installed[i].major > installed[*best].major) best = i;
  }
  return best;
}

std::optional<std::string> wanted_assembler(DriverVersion driver, Capability capability,
                                            std::optional<PtxVersion> version) {
  const PtxVersion needed = version_or_floor(capability, version);
  std::vector<std::string> majors;
  for (const AssemblerInfo& row : known_assemblers()) {
    const AssemblerVersion newest = newest_of(row);
    if (driver_takes(driver, newest) && assembles(newest, capability, needed)) {
      majors.insert(majors.begin(), std::to_string(row.major));
    }
  }
  if (majors.empty()) return std::nullopt;
  return std::string(assembler_program) + " of CUDA " + join(majors, " or ");
}

}  // namespace teeny
