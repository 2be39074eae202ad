#pragma once

#include <cstdint>
#include <vector>

#include "compiler/layout/linear_layout.hpp"

namespace teeny::compiler {

/// How a tile gets from one layout to another: the cheapest way that can do it.
struct Conversion {
  enum class Kind {
    registers,  ///< every thread has all it needs: registers are renamed
    shuffle,    ///< every warp has all it needs: one shuffle a register, from another lane
    shared,     ///< through shared memory
  };
  Kind kind = Kind::shared;
  /// registers, shuffle: for each register of the new layout, the old register that is read (by
  /// shuffle: in the other lane).
  std::vector<std::uint32_t> source_register = {};
  /// shuffle: lane l of warp w reads register r from lane lane_of_register[r] ^ lanes(l) ^
  /// warps(w).
  std::vector<std::uint32_t> lane_of_register = {};
  BitMatrix lanes{{}};
  BitMatrix warps{{}};
};

/// Both layouts of the same tile and the same number of warps.
[[nodiscard]] Conversion plan_conversion(const LinearLayout& from, const LinearLayout& to);

/// The position in shared memory of each element of a tile that is written in one layout and read
/// in another: a linear map over GF(2) too, the element index with some higher bits added to the
/// low ones, chosen so that a warp's accesses meet few bank conflicts on either side.
[[nodiscard]] BitMatrix shared_positions(const LinearLayout& written, const LinearLayout& read,
                                         int element_bytes);

/// log2 of how many times a warp's access at `positions` takes longer than one without conflicts
/// (32 banks of four bytes): for choosing among positions, and for tests.
[[nodiscard]] int bank_conflict_bits(const LinearLayout& layout, const BitMatrix& positions,
                                     int element_bytes);

}  // namespace teeny::compiler
