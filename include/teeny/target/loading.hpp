#pragma once

#include <optional>
#include <string>

#include "teeny/target/assembler.hpp"
#include "teeny/target/target.hpp"

namespace teeny {

/// What a device says of itself, for choosing among artifacts.
struct DeviceFacts {
  Capability capability;
  DriverVersion driver;
  bool integrated = false;
  std::string holder = "device";  ///< what messages call it: "wanted X, HOLDER has Y"
};

/// How well one artifact fits one device; higher is better, `no` never loads.
enum class Fit { no, ptx, compatible_machine_code, exact_machine_code };

/// The rule of what loads where, for PTX of `target` and `version`. When the answer is `no` and
/// `why` is given, it receives one line "wanted X, device has Y".
[[nodiscard]] Fit fit_ptx(const DeviceFacts& device, Capability target, PtxVersion version,
                          std::string* why = nullptr);
/// What machine code says of itself.
struct MachineCode {
  Capability capability;
  AssemblerVersion assembler;
  std::optional<int> elf_abi = {};  ///< ABI version of its ELF header, where it was read
};

/// The same for machine code: for exactly this capability, or for the same major and a lower minor,
/// the latter never on an integrated device; written by an assembler of no newer CUDA major than
/// the driver's, in an ELF interface that such a driver knows.
[[nodiscard]] Fit fit_machine_code(const DeviceFacts& device, const MachineCode& code,
                                   std::string* why = nullptr);
/// The half of that rule that no assembler can change.
[[nodiscard]] Fit fit_capability(const DeviceFacts& device, Capability target,
                                 std::string* why = nullptr);

}  // namespace teeny
