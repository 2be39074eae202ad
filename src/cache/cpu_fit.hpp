#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/cache/artifact.hpp"
#include "teeny/target/board.hpp"
#include "teeny/target/target.hpp"

namespace teeny::detail {

/// A processor that runs kernels: its portable name, and what it says it can do, in the words of
/// /proc/cpuinfo (x86) or of the kernel's hwcap names (AArch64).
struct Processor {
  CpuTarget target;
  std::set<std::string, std::less<>> features;
  std::string holder = "this machine";  ///< what messages call it
};

/// This machine's abilities. Asks the kernel, not the model's name: under emulation, and on a
/// processor newer than our tables, the abilities are what counts.
[[nodiscard]] std::set<std::string, std::less<>> processor_features();

/// A board's processor: it has what code for a processor of its name may use, and more is not known
/// of it.
[[nodiscard]] Processor processor_of(const Board& board);

/// The hwcap names of AArch64 that are set in these two words (AT_HWCAP, AT_HWCAP2).
[[nodiscard]] std::set<std::string, std::less<>> arm_features(unsigned long hwcap,
                                                              unsigned long hwcap2);

/// Whether code for `wanted` runs on `processor`; when not, `why` gets one line "wanted X, this
/// machine has Y" (or whatever `holder` is).
[[nodiscard]] bool cpu_fits(const CpuTarget& wanted, const Processor& processor, std::string* why);

/// Among targets that fit, higher is better: this very processor, then the one that asks for most.
[[nodiscard]] int cpu_rank(const CpuTarget& wanted, const Processor& processor);

/// `choose_for_cpu` for a processor that need not be this machine's.
[[nodiscard]] Artifact choose_for_processor(std::string_view kernel,
                                            const std::vector<std::filesystem::path>& candidates,
                                            const std::string& where, const Processor& processor);

}  // namespace teeny::detail
