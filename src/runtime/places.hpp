#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/cpu_fit.hpp"

#include "teeny/cache/artifact.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/target/board.hpp"
#include "teeny/target/memory.hpp"

namespace teeny::detail {

/// What kernels are compared with: a device of this machine, or one of a board.
struct Place {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;         ///< "cuda:0", "cpu", "jetson-orin-nano@6.0"
  std::string description;  ///< for people: the chip and its driver
  bool is_board = false;
  std::optional<DeviceFacts> device = {};          ///< of kind cuda; absent: the board has none
  std::optional<std::uint64_t> shared_bytes = {};  ///< of kind cuda: what a block may opt in to
  std::uint64_t memory_bytes = 0;                  ///< of a board: all of it
  std::optional<Processor> processor = {};         ///< of kind cpu
};

/// The devices of that kind on this machine; `why_none` says why there are none.
[[nodiscard]] std::vector<Place> places_here(DeviceKind kind, std::string* why_none);
[[nodiscard]] Place place_on(const Board& board, DeviceKind kind);

/// How code fits a place: by the rules that a launch goes by.
struct Verdict {
  bool fits = false;
  /// Where it fits, what runs: "exact machine code of sm_87 by ptxas 12.9.86". Else "wanted X, Y
  /// has Z".
  std::string text;
  int exit_code = 0;  ///< of `finding_code`, where it does not fit
};

[[nodiscard]] Verdict judge(const ArtifactInfo& info, const Place& place);

/// What a launch at that place would take of these files, of which one fits at least.
[[nodiscard]] Artifact choose_for(const Place& place, const std::string& kernel,
                                  const std::vector<std::filesystem::path>& fitting);

/// How the device memory that the program declares (`memory_need`) fits; `why` receives one line.
/// Asks a CUDA device of this machine, which makes a context on it, only where something is
/// declared.
[[nodiscard]] MemoryFit device_memory_fit(const Place& place, std::string* why);

/// "wanted X bytes, Y has Z" where the code asks for more shared memory than a block may have.
[[nodiscard]] std::optional<std::string> memory_problem(const ArtifactInfo& info,
                                                        const Place& place);

/// How code for that place is made, for an error's last line.
[[nodiscard]] std::string way_to_compile(const Place& place);

}  // namespace teeny::detail
