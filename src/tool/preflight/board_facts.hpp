#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Where a fact about a board comes from.
enum class Origin : std::uint8_t {
  unknown,
  board_file,
  l4t_table,  ///< the generation that the shipped board files give its Linux for Tegra release
  probed,     ///< the board itself said so
};
/// "unknown", "board file", "L4T table", "probed".
[[nodiscard]] std::string_view to_string(Origin origin) noexcept;

/// One origin for each fact that can be known without the others.
struct FactOrigins {
  Origin machine = Origin::unknown;  ///< the triple
  Origin cpu = Origin::unknown;
  Origin glibc = Origin::unknown;
  Origin glibcxx = Origin::unknown;
  Origin l4t = Origin::unknown;
  Origin gpu = Origin::unknown;  ///< capability, integrated, multiprocessors, shared memory
  Origin driver = Origin::unknown;
  Origin memory = Origin::unknown;
  Origin disk = Origin::unknown;
};

/// What a board says of itself, or its file says of it. Of what is unknown by `from`, the value
/// means nothing: an absent capability is "no CUDA device" only where `from.gpu` is known.
struct BoardFacts {
  Board board;  ///< with one generation, the one that is meant
  FactOrigins from;
  /// Bytes that kernels can have: the device's, or, where it is integrated, the machine's.
  std::optional<std::uint64_t> memory_total = {};
  std::optional<std::uint64_t> memory_available = {};  ///< bytes; absent: taken as all of it
  std::optional<std::uint64_t> disk_free = {};         ///< bytes, at the destination
  std::string destination = {};                        ///< absolute; empty: none was asked about
  /// What the processor says it can do, in the words of /proc/cpuinfo; absent: what its name means.
  std::optional<std::vector<std::string>> cpu_features = {};
  /// Shared libraries that the loader finds there; absent: only those of any such system are known.
  std::optional<std::vector<std::string>> libraries = {};
  /// Whether it has the loader that programs of its machine ask for; absent: not asked.
  std::optional<bool> has_loader = {};
  /// What could not be found out and why, for people.
  std::vector<std::string> remarks = {};

  /// What messages call it: "jetson-orin-nano@6.0".
  [[nodiscard]] std::string name() const { return board.full_name(); }
};

/// What a board file says; disk and what is in use at the moment are unknown.
[[nodiscard]] BoardFacts facts_of(const Board& board);

/// One fact for people and for JSON.
struct FactRow {
  std::string name;   ///< "glibc"
  std::string value;  ///< "2.35"; empty where it is unknown
  Origin origin;
};
[[nodiscard]] std::vector<FactRow> rows_of(const BoardFacts& facts);

}  // namespace teeny::tool
