#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/capability.hpp"
#include "teeny/target/driver.hpp"
#include "teeny/target/ptx_version.hpp"

namespace teeny {

/// The version of an assembler (ptxas): its CUDA release and its build, "12.9.86".
struct AssemblerVersion {
  int major = 0;
  int minor = 0;
  int build = 0;

  /// Three decimal numbers with points between; nullopt for text of another shape.
  [[nodiscard]] static std::optional<AssemblerVersion> parse(std::string_view text) noexcept;
  [[nodiscard]] std::string name() const;  ///< "12.9.86"
  friend constexpr auto operator<=>(const AssemblerVersion&, const AssemblerVersion&) = default;
};

/// What artifacts and keys call an assembler: "ptxas 12.9.86". `parse_assembler` reads it back.
[[nodiscard]] std::string assembler_name(AssemblerVersion version);
[[nodiscard]] std::optional<AssemblerVersion> parse_assembler(std::string_view name) noexcept;

/// How machine code's ELF header names its binary interface: the bytes EI_OSABI and EI_ABIVERSION.
struct ElfAbi {
  int os = 0;
  int version = 0;
  friend constexpr bool operator==(const ElfAbi&, const ElfAbi&) = default;
};

/// What is known of the assemblers of one CUDA major release.
struct AssemblerInfo {
  int major;
  Capability lowest;            ///< below it nothing is assembled
  ElfAbi abi;                   ///< of code for capabilities below 10.0
  ElfAbi abi_of_10;             ///< of code for 10.0 and later
  DriverVersion oldest_driver;  ///< that loads its code
  std::string_view wheel;       ///< package of the Python index that carries it
};

/// Every CUDA major release whose assembler teeny knows, ascending.
[[nodiscard]] const std::vector<AssemblerInfo>& known_assemblers();
/// The row of the assembler's major release; nullptr for one that is older than the table. A newer
/// one is taken to be like the last row.
[[nodiscard]] const AssemblerInfo* find_assembler_info(AssemblerVersion version) noexcept;

/// The highest PTX ISA that it reads: that of the driver of the same CUDA release. nullopt for one
/// that is older than the driver table.
[[nodiscard]] std::optional<PtxVersion> highest_ptx(AssemblerVersion version) noexcept;
/// The interface of the code that it writes for `capability`; nullopt where it writes none.
[[nodiscard]] std::optional<ElfAbi> elf_abi(AssemblerVersion version,
                                            Capability capability) noexcept;
/// Whether it assembles PTX of `version` for `capability`; where it does not and `why` is given,
/// one line "wanted X, found Y".
[[nodiscard]] bool assembles(AssemblerVersion assembler, Capability capability, PtxVersion version,
                             std::string* why = nullptr);
/// Whether a driver loads the machine code that it writes: never that of a newer CUDA major than
/// the driver's own. `why` as above, saying which of the two to change; `holder` has the driver.
[[nodiscard]] bool driver_takes(DriverVersion driver, AssemblerVersion assembler,
                                std::string* why = nullptr, const std::string& holder = "device");

/// Which of `installed` (the preferred ones first) makes machine code of `capability` for `driver`
/// from PTX of `version` (absent: the capability's floor): of those that can, one of the newest
/// CUDA major, and of these the first. nullopt when none can.
[[nodiscard]] std::optional<std::size_t> choose_assembler(
    const std::vector<AssemblerVersion>& installed, DriverVersion driver, Capability capability,
    std::optional<PtxVersion> version);

/// In words, which assembler could do that: "ptxas of CUDA 12" or, where an older one serves too,
/// "ptxas of CUDA 12 or 11". nullopt where none that is known can.
[[nodiscard]] std::optional<std::string> wanted_assembler(DriverVersion driver,
                                                          Capability capability,
                                                          std::optional<PtxVersion> version);

}  // namespace teeny
