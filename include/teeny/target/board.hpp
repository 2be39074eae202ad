#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/loading.hpp"
#include "teeny/target/target.hpp"

namespace teeny {

/// One software generation of a board (a JetPack release, or a distribution).
struct BoardGeneration {
  std::string name;                            ///< "6.0"; what follows the @ of `--target`
  std::string l4t;                             ///< "R36.3"; empty for a machine that is no Jetson
  std::string os;                              ///< "Ubuntu 22.04"
  std::string glibc;                           ///< "2.35"
  std::string glibcxx;                         ///< "3.4.30"
  std::optional<DriverVersion> driver = {};    ///< absent: the board has no CUDA device
  std::optional<PtxVersion> ptx_ceiling = {};  ///< its driver's, by the driver table
};

/// A board: what its file under boards/ says. A value; the tool reads it from TOML.
struct Board {
  std::string name;  ///< "jetson-orin-nano"
  std::string description;
  std::string triple;  ///< "aarch64-linux-gnu"
  std::string cpu;     ///< LLVM's name, "cortex-a78ae"
  std::optional<Capability> capability = {};
  bool integrated = false;
  int multiprocessors = 0;
  int shared_memory_kib = 0;  ///< what a block may opt in to
  int memory_mib = 0;         ///< shared with the CPU where integrated
  int bandwidth_gbps = 0;
  std::string cuda_target_directory;  ///< "aarch64-linux" or "sbsa-linux"
  std::vector<std::string> sysroot_directories;
  std::vector<BoardGeneration> generations;  ///< oldest supported first
  std::size_t generation = 0;                ///< the chosen one; by default the oldest supported

  [[nodiscard]] const BoardGeneration& chosen() const { return generations.at(generation); }
  [[nodiscard]] std::string full_name() const { return name + "@" + chosen().name; }
};

/// What the board's CUDA device and the driver of its chosen generation say of themselves; nullopt
/// without a CUDA device.
[[nodiscard]] std::optional<DeviceFacts> device_facts(const Board& board);

/// Whether an artifact compiled for `target` could ever load on `board` (tables of what loads
/// where): nullopt when it can; else one line "wanted X, board has Y".
[[nodiscard]] std::optional<std::string> conflict(const Board& board, const Target& target);

/// A line to print when `target` loads but is lower than the board (newer Tensor Cores stay idle).
[[nodiscard]] std::optional<std::string> idle_notice(const Board& board, const Target& target);

}  // namespace teeny
