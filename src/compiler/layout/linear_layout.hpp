#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/layout/bit_matrix.hpp"

#include "teeny/ir/type.hpp"

namespace teeny::compiler {

/// Where the elements of a tile live: which element each register of each thread of a block holds.
///
/// An element is named by its row-major index in the tile, a thread by its lane (0 to 31) and warp.
/// Extents are powers of two, so all of these are vectors of bits, and a layout is a linear map
/// over GF(2) from (register, lane, warp) bits to the bits of the element index: the element of (r,
/// l, w) is the exclusive or of the columns whose bits are set. Element 0 is in register 0 of lane
/// 0 of warp 0. Every layout here holds every element (the map is onto); where it holds elements
/// more than once, some bits are *free*: copies differ in nothing but them.
///
/// A value type: no LLVM, no tile, no thread in it.
class LinearLayout {
 public:
  static constexpr int lane_bits = 5;

  /// Columns for each bit, lowest first; lanes are filled up to 5 columns with zeros. Register
  /// columns that are zero or a sum of other register columns are dropped and the rest is sorted:
  /// the order of registers is no property of a layout. std::logic_error if the map is not onto.
  LinearLayout(int element_bits, std::vector<std::uint32_t> registers,
               std::vector<std::uint32_t> lanes, std::vector<std::uint32_t> warps);

  /// The elements of a tile dealt out along `order` (dimensions, the one that varies fastest
  /// first): the first 2^vector_bits to one thread's registers, then over the lanes, then over
  /// 2^warp_bits warps, what is left to further registers. Consecutive lanes hold consecutive
  /// (groups of) elements of the first dimension, so that their memory accesses coalesce. A tile
  /// smaller than the block leaves the high lane or warp bits free.
  [[nodiscard]] static LinearLayout blocked(const ir::Shape& shape, const std::vector<int>& order,
                                            int vector_bits, int warp_bits);
  /// `blocked` in row-major order, one element after the other: the same for all shapes of one
  /// size.
  [[nodiscard]] static LinearLayout flat(const ir::Shape& shape, int warp_bits);

  [[nodiscard]] int element_bits() const noexcept { return element_bits_; }
  [[nodiscard]] int register_bits() const noexcept { return static_cast<int>(registers_.size()); }
  [[nodiscard]] int warp_bits() const noexcept { return static_cast<int>(warps_.size()); }
  /// Registers of each thread.
  [[nodiscard]] std::uint32_t register_count() const noexcept { return 1U << register_bits(); }

  [[nodiscard]] const std::vector<std::uint32_t>& register_columns() const { return registers_; }
  [[nodiscard]] const std::vector<std::uint32_t>& lane_columns() const { return lanes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& warp_columns() const { return warps_; }

  /// Row-major index of the element in register `reg` of that thread.
  [[nodiscard]] std::uint32_t element(std::uint32_t reg, std::uint32_t lane,
                                      std::uint32_t warp) const noexcept;
  /// The register in which thread 0 holds an element; nullopt when it holds it in none. A thread
  /// holds element `e ^ element(0, lane, warp)` in the register where thread 0 holds `e`.
  [[nodiscard]] std::optional<std::uint32_t> register_of(std::uint32_t element) const;
  /// All bits as one map: register bits lowest, then lanes, then warps.
  [[nodiscard]] BitMatrix matrix() const;

  /// Bits of the lane (of the warp) that are free: of the threads that differ only in them, one is
  /// to speak for all, the one where they are zero.
  [[nodiscard]] std::uint32_t free_lanes() const;
  [[nodiscard]] std::uint32_t free_warps() const;
  /// Every element is held exactly once.
  [[nodiscard]] bool is_one_to_one() const;

  /// The layout of a tile whose element bit i is this tile's bit `source[i]`: bits may be dropped
  /// (their elements become copies) or moved.
  [[nodiscard]] LinearLayout with_bits(const std::vector<int>& source) const;

  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

 private:
  int element_bits_;
  std::vector<std::uint32_t> registers_;
  std::vector<std::uint32_t> lanes_;
  std::vector<std::uint32_t> warps_;
};

/// Number of bits of each extent; std::logic_error for one that is not a power of two.
[[nodiscard]] std::vector<int> extent_bits(const ir::Shape& shape);

// Operations that only move elements, each as the list of which bit of the operand's element index
// a bit of the result's is (or the other way round). `with_bits` takes a layout through it,
// `gather` one element index. Reshape keeps row-major indices, hence layouts.

/// Bit i of the result is bit source[i] of `index`.
[[nodiscard]] std::uint32_t gather(std::uint32_t index, const std::vector<int>& source) noexcept;

/// Operand element bits as bits of the result of broadcasting shape `from` to `to` (same rank, or
/// `from` a scalar): `result_layout.with_bits(...)` is the layout that the operand needs so that
/// nothing moves between threads.
[[nodiscard]] std::vector<int> broadcast_bits(const ir::Shape& from, const ir::Shape& to);
/// Result element bits of permute(tile of shape `from`, dims) as bits of the operand:
/// `operand_layout.with_bits(...)` is the result's layout when nothing moves.
[[nodiscard]] std::vector<int> permute_bits(const ir::Shape& from, const std::vector<int>& dims);
/// The inverse of a list that is a permutation.
[[nodiscard]] std::vector<int> inverse_bits(const std::vector<int>& source);
/// Element bits of a tile of shape `from` without dimension `axis`, as bits of the whole:
/// `operand_layout.with_bits(...)` is the layout of a reduction's result when every thread that
/// held a part of an element knows it.
[[nodiscard]] std::vector<int> slice_bits(const ir::Shape& from, int axis);

/// "registers 128 256, lanes 1 2 4 8 16, warps 32 64": for messages and tests.
[[nodiscard]] std::string to_string(const LinearLayout& layout);

}  // namespace teeny::compiler
