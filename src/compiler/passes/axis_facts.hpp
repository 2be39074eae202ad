#pragma once

#include <cstdint>

#include "teeny/base/dtype.hpp"
#include "teeny/ir/op.hpp"

namespace teeny::compiler {

/// What is known of a tile of integers, bools or pointers along one of its axes, whatever the
/// indices along the others. Numbers are powers of two: a *group of k* is 2^k neighbours along the
/// axis, the first of them at a multiple of 2^k. Integers are read with their sign, 64-bit ones and
/// addresses modulo 2^64.
struct AxisFacts {
  int constant = 0;    ///< in each group of this size all elements are equal
  int contiguous = 0;  ///< in each group of this size each element is one more than the one before
                       ///< it (a pointer: one element further); but see `wraps`
  int falling = 0;     ///< bools: in each group of this size no true follows a false
  int divisible = 0;   ///< 2 to this power divides the first element of each group of `contiguous`
                       ///< (of pointers: its distance from their root, in bytes)
  /// 0, or the width of the integers over whose end one step of each contiguous group may go, to
  /// their lowest. A group of at most `divisible` (of pointers: less log2 of the element's bytes)
  /// has no such step.
  int wraps = 0;

  friend bool operator==(const AxisFacts&, const AxisFacts&) = default;
};

/// As much as any power of two divides: what divides zero.
inline constexpr int divides_zero = 63;

/// Of a value that all elements of an axis of 2^bits share and that 2^divisible divides.
[[nodiscard]] AxisFacts splat_facts(int bits, int divisible) noexcept;
/// log2 of what divides each element at a multiple of 2^bits along the axis; of pointers to
/// elements of 2^unit_bits bytes.
[[nodiscard]] int divisible_at(const AxisFacts& facts, int bits, int unit_bits = 0) noexcept;
/// Whether a contiguous group of 2^bits may have a step that is not one, of elements of
/// 2^unit_bits: in addresses, where going over the end of 64-bit integers does not show.
[[nodiscard]] bool may_wrap(const AxisFacts& facts, int bits, int unit_bits) noexcept;
/// What two tiles have in common.
[[nodiscard]] AxisFacts meet(const AxisFacts& a, const AxisFacts& b) noexcept;
/// Of an axis that is cut into pieces of 2^bits.
[[nodiscard]] AxisFacts cut(AxisFacts facts, int bits) noexcept;

// Of operations, from the facts of their operands along the same axis. What is said of integers
// holds for dtypes of `width` bits, which wrap.

[[nodiscard]] AxisFacts sum_facts(const AxisFacts& a, const AxisFacts& b, int width) noexcept;
[[nodiscard]] AxisFacts difference_facts(const AxisFacts& a, const AxisFacts& b,
                                         int width) noexcept;
[[nodiscard]] AxisFacts product_facts(const AxisFacts& a, const AxisFacts& b) noexcept;
/// a * 2^bits
[[nodiscard]] AxisFacts scaled_facts(const AxisFacts& a, int bits) noexcept;
/// floor(a / 2^bits)
[[nodiscard]] AxisFacts quotient_facts(const AxisFacts& a, int bits) noexcept;
/// a & mask, of any sign; a modulo 2^bits is one.
[[nodiscard]] AxisFacts masked_facts(const AxisFacts& a, std::uint64_t mask) noexcept;
/// a | b, a ^ b
[[nodiscard]] AxisFacts joined_facts(const AxisFacts& a, const AxisFacts& b) noexcept;
[[nodiscard]] AxisFacts comparison_facts(ir::Predicate predicate, const AxisFacts& a,
                                         const AxisFacts& b) noexcept;
/// select
[[nodiscard]] AxisFacts choice_facts(const AxisFacts& condition, const AxisFacts& yes,
                                     const AxisFacts& no) noexcept;
/// An integer cast, or a bitcast of integers.
[[nodiscard]] AxisFacts cast_facts(const AxisFacts& a, DType from, DType to) noexcept;
/// Pointers a (elements of 2^unit_bits bytes) moved by integers b.
[[nodiscard]] AxisFacts offset_facts(const AxisFacts& a, const AxisFacts& b,
                                     int unit_bits) noexcept;

}  // namespace teeny::compiler
