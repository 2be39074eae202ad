#include "compiler/layout/conversion.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

namespace teeny::compiler {
namespace {

std::vector<int> bit_range(int begin, int end) {
  std::vector<int> bits;
  for (int bit = begin; bit < end; ++bit) bits.push_back(bit);
  return bits;
}

/// Looks for a linear map X from places of `to` to places of `from` with from(X(place)) ==
/// to(place), which leaves the warp alone and takes the register from the register alone (a
/// register that depends on the lane would have to be chosen while the kernel runs).
std::optional<Conversion> within_warps(const LinearLayout& from, const LinearLayout& to) {
  const BitMatrix old = from.matrix();
  const int registers = from.register_bits();
  const BitSolver by_lane(old, bit_range(registers, registers + LinearLayout::lane_bits));
  const BitSolver by_register_then_lane(old, bit_range(0, registers + LinearLayout::lane_bits));
  const std::uint32_t register_mask = (1U << registers) - 1;

  bool same_lane = true;
  std::vector<std::uint32_t> lanes;
  for (int bit = 0; bit < LinearLayout::lane_bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit);
    if (to.lane_columns()[at] == from.lane_columns()[at]) {
      lanes.push_back(1U << bit);
      continue;
    }
    const auto place = by_lane.solve(to.lane_columns()[at]);
    if (!place) return std::nullopt;
    lanes.push_back(*place >> registers);
    same_lane = false;
  }
  std::vector<std::uint32_t> warps;
  for (std::size_t bit = 0; bit < to.warp_columns().size(); ++bit) {
    const auto place = by_lane.solve(to.warp_columns()[bit] ^ from.warp_columns()[bit]);
    if (!place) return std::nullopt;
    warps.push_back(*place >> registers);
    same_lane = same_lane && warps.back() == 0;
  }
  Conversion plan;
  for (std::uint32_t reg = 0; reg < to.register_count(); ++reg) {
    const auto place = by_register_then_lane.solve(to.element(reg, 0, 0));
    if (!place) return std::nullopt;
    plan.source_register.push_back(*place & register_mask);
    plan.lane_of_register.push_back(*place >> registers);
    same_lane = same_lane && plan.lane_of_register.back() == 0;
  }
  plan.kind = same_lane ? Conversion::Kind::registers : Conversion::Kind::shuffle;
  plan.lanes = BitMatrix(std::move(lanes));
  plan.warps = BitMatrix(std::move(warps));
  return plan;
}

}  // namespace

Conversion plan_conversion(const LinearLayout& from, const LinearLayout& to) {
  if (from.element_bits() != to.element_bits() || from.warp_bits() != to.warp_bits()) {
    throw std::logic_error("layouts of different tiles: " + to_string(from) + " and " +
                           to_string(to));
  }
  if (auto plan = within_warps(from, to)) return *std::move(plan);
  return Conversion{};
}

int bank_conflict_bits(const LinearLayout& layout, const BitMatrix& positions, int element_bytes) {
  const int size_bits = std::countr_zero(static_cast<unsigned>(element_bytes));
  // Lanes that differ in these position bits only are served by one word of one bank.
  const int word_bits = std::max(0, 2 - size_bits);
  // An access wider than a bank is made in as many parts, each by so many fewer lanes.
  const int part_bits = std::max(0, size_bits - 2);
  const int lanes = LinearLayout::lane_bits - part_bits;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> banks;
  const std::uint32_t bank_mask = (1U << (5 - part_bits)) - 1;
  for (int lane = 0; lane < lanes; ++lane) {
    const std::uint32_t position =
        positions.apply(layout.lane_columns()[static_cast<std::size_t>(lane)]) >> word_bits;
    words.push_back(position);
    banks.push_back(position & bank_mask);
  }
  return BitMatrix(std::move(words)).rank() - BitMatrix(std::move(banks)).rank();
}

BitMatrix shared_positions(const LinearLayout& written, const LinearLayout& read,
                           int element_bytes) {
  const int bits = written.element_bits();
  std::optional<BitMatrix> best;
  int fewest = 0;
  // Candidate s adds bit i + s of the element index to bit i, for the bits that choose a bank.
  const int low = 5 + std::max(0, 2 - std::countr_zero(static_cast<unsigned>(element_bytes)));
  for (int distance = bits; distance >= 1; --distance) {
    std::vector<std::uint32_t> columns;
    for (int bit = 0; bit < bits; ++bit) {
      std::uint32_t column = 1U << bit;
      if (bit >= distance && bit - distance < low && bit >= low) column |= 1U << (bit - distance);
      columns.push_back(column);
    }
    BitMatrix candidate(std::move(columns));
    int conflicts = bank_conflict_bits(written, candidate, element_bytes) +
                    bank_conflict_bits(read, candidate, element_bytes);
    // Moving bits costs an instruction an access; accesses that take twice as long cost no more.
    if (distance != bits) ++conflicts;
    if (!best || conflicts < fewest) {
      best = std::move(candidate);
      fewest = conflicts;
    }
  }
  return best ? *best : BitMatrix({});
}

}  // namespace teeny::compiler
