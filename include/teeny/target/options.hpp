#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/target.hpp"

namespace teeny {

/// Whether machine code is made besides PTX (CUDA): where a driver is named and an assembler fits
/// it; in any case; never.
enum class MachineCodeOption { automatic, yes, no };

/// `--device D --options O` as one thing: the device's name and what its options said.
struct CompileRequest {
  Target target;
  std::optional<int> jobs = {};
  std::optional<std::string> log_level = {};
  MachineCodeOption machine_code = MachineCodeOption::automatic;
  std::string device;   ///< "cuda" or "cpu"
  std::string options;  ///< the user's own bytes

  /// Whether machine code is to be made, if an assembler fits: for CUDA, where a driver is named
  /// and nobody said no.
  [[nodiscard]] bool wants_machine_code() const {
    return target.is_cuda() && target.cuda().driver && machine_code != MachineCodeOption::no;
  }
};

/// Parses and checks the options of one device against the tables. Grammar: `key=value` joined by
/// commas, no quoting, lists inside a value joined by `+`. cuda: capability (required),
/// ptx-version, driver, machine-code, max-registers, line-info; cpu: triple, cpu, features; both:
/// opt-level, jobs, log-level. For cuda, `environment_ptx_version` (the value of
/// TEENYC_PTX_VERSION) is heard when the key is absent. Error(usage) naming the option or variable,
/// the bound that failed and the choices, for: an unknown device, an unknown key (with the known
/// ones), a repeated key, an empty or malformed value, `native`, a capability or version outside
/// the tables, machine-code=yes without the driver that it is for. cpu without `triple`/`cpu`:
/// `cpu_default` is taken (the named board's, or the host's); it is an error when there is none.
[[nodiscard]] CompileRequest parse_options(std::string_view device, std::string_view options,
                                           std::optional<std::string_view> environment_ptx_version,
                                           const std::optional<CpuTarget>& cpu_default);

/// The keys that `device` accepts, for help texts and for adding what is missing.
[[nodiscard]] std::vector<std::string> option_keys(std::string_view device);
/// Whether the option text names `key` (before any checking).
[[nodiscard]] bool has_option(std::string_view options, std::string_view key);

}  // namespace teeny
