#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "compiler/layout/bit_matrix.hpp"
#include "compiler/layout/conversion.hpp"
#include "compiler/layout/linear_layout.hpp"

namespace teeny::compiler {
namespace {

using Columns = std::vector<std::uint32_t>;

std::vector<ir::Shape> shapes() {
  return {{1},    {2},     {32},    {64},      {1024},    {1, 1},     {1, 64},    {64, 1},
          {8, 8}, {32, 4}, {4, 32}, {128, 16}, {2, 4, 8}, {16, 1, 4}, {1, 2, 64}, {2, 2, 2, 2, 16}};
}

std::vector<std::vector<int>> orders(int rank) {
  std::vector<int> order;
  for (int d = rank; d-- > 0;) order.push_back(d);
  std::vector<std::vector<int>> all = {order};
  std::reverse(order.begin(), order.end());
  all.push_back(order);
  return all;
}

std::vector<LinearLayout> layouts_of(const ir::Shape& shape, int warp_bits) {
  std::vector<LinearLayout> all;
  for (const auto& order : orders(static_cast<int>(shape.size()))) {
    for (int vector_bits = 0; vector_bits < 3; ++vector_bits) {
      all.push_back(LinearLayout::blocked(shape, order, vector_bits, warp_bits));
    }
  }
  return all;
}

/// Any linear layout at all: random columns, made complete by registers where they are not.
LinearLayout random_layout(std::mt19937& random, int element_bits, int warp_bits) {
  const std::uint32_t mask = (1U << element_bits) - 1;
  const auto columns = [&](int count) {
    Columns result;
    for (int i = 0; i < count; ++i) {
      const auto draw = static_cast<std::uint32_t>(random());
      result.push_back(draw % 4 == 0 ? 0 : draw >> 3 & mask);
    }
    return result;
  };
  const Columns lanes = columns(5);
  const Columns warps = columns(warp_bits);
  Columns registers = columns(static_cast<int>(random() % 3));
  Columns all = lanes;
  all.insert(all.end(), warps.begin(), warps.end());
  all.insert(all.end(), registers.begin(), registers.end());
  for (int bit = 0; bit < element_bits; ++bit) {
    Columns more = all;
    more.push_back(1U << bit);
    if (BitMatrix(more).rank() > BitMatrix(all).rank()) {
      registers.push_back(1U << bit);
      all = more;
    }
  }
  return LinearLayout(element_bits, registers, lanes, warps);
}

TEST(BitMatrix, SolvesWhatCanBeSolved) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Columns columns;
    for (int i = 0; i < 6; ++i) columns.push_back(random() % 32);
    const BitMatrix matrix(columns);
    std::set<std::uint32_t> reached;
    for (std::uint32_t input = 0; input < 64; ++input) reached.insert(matrix.apply(input));
    EXPECT_EQ(reached.size(), 1U << matrix.rank());
    const BitSolver solver(matrix);
    const BitSolver reversed(matrix, {5, 4, 3, 2, 1, 0});
    for (std::uint32_t output = 0; output < 32; ++output) {
      for (const auto& one : {solver, reversed}) {
        const auto input = one.solve(output);
        ASSERT_EQ(input.has_value(), reached.count(output) == 1);
        if (input) {
          EXPECT_EQ(matrix.apply(*input), output);
        }
      }
    }
  }
}

TEST(BitMatrix, PrefersTheBitsGivenFirst) {
  const BitMatrix matrix(Columns{1, 2, 1, 3});
  EXPECT_EQ(BitSolver(matrix, {0, 1, 2, 3}).solve(3), 0b0011U);
  EXPECT_EQ(BitSolver(matrix, {3, 2, 1, 0}).solve(3), 0b1000U);
  EXPECT_EQ(BitSolver(matrix, {0}).solve(2), std::nullopt);
}

TEST(BitMatrix, Composes) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    Columns first;
    Columns second;
    for (int i = 0; i < 5; ++i) first.push_back(random() % 64);
    for (int i = 0; i < 6; ++i) second.push_back(random() % 256);
    const BitMatrix both = BitMatrix(second).after(BitMatrix(first));
    for (std::uint32_t input = 0; input < 32; ++input) {
      EXPECT_EQ(both.apply(input), BitMatrix(second).apply(BitMatrix(first).apply(input)));
    }
  }
}

TEST(LinearLayout, DealsOutEveryElement) {
  for (const auto& shape : shapes()) {
    for (int warp_bits = 0; warp_bits <= 5; ++warp_bits) {
      for (const auto& layout : layouts_of(shape, warp_bits)) {
        std::map<std::uint32_t, int> copies;
        std::set<std::uint32_t> spoken_for;
        for (std::uint32_t warp = 0; warp < 1U << warp_bits; ++warp) {
          for (std::uint32_t lane = 0; lane < 32; ++lane) {
            for (std::uint32_t reg = 0; reg < layout.register_count(); ++reg) {
              const std::uint32_t element = layout.element(reg, lane, warp);
              ++copies[element];
              if ((lane & layout.free_lanes()) == 0 && (warp & layout.free_warps()) == 0) {
                EXPECT_TRUE(spoken_for.insert(element).second) << to_string(layout);
              }
            }
          }
        }
        const auto count = static_cast<std::size_t>(ir::element_count(shape));
        EXPECT_EQ(copies.size(), count);
        EXPECT_EQ(spoken_for.size(), count) << to_string(layout);
        EXPECT_EQ(layout.is_one_to_one(), copies.begin()->second == 1);
      }
    }
  }
}

TEST(LinearLayout, FreeBitsOfRandomLayoutsLeaveOneSpeaker) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const LinearLayout layout = random_layout(random, static_cast<int>(random() % 8), 2);
    std::map<std::uint32_t, int> speakers;
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((lane & layout.free_lanes()) != 0 || (warp & layout.free_warps()) != 0) continue;
        for (std::uint32_t reg = 0; reg < layout.register_count(); ++reg) {
          ++speakers[layout.element(reg, lane, warp)];
        }
      }
    }
    EXPECT_EQ(speakers.size(), 1U << layout.element_bits());
    for (const auto& [element, count] : speakers) EXPECT_EQ(count, 1) << to_string(layout);
  }
}

TEST(LinearLayout, NeighbouringLanesHoldNeighbours) {
  const auto flat = LinearLayout::flat({64, 64}, 2);
  EXPECT_EQ(to_string(flat), "registers 128 256 512 1024 2048, lanes 1 2 4 8 16, warps 32 64");
  EXPECT_EQ(flat, LinearLayout::flat({4096}, 2));
  const auto columns_first = LinearLayout::blocked({64, 64}, {0, 1}, 0, 2);
  EXPECT_EQ(columns_first.element(0, 1, 0), 64U);
  const auto vectors = LinearLayout::blocked({1024}, {0}, 2, 2);
  EXPECT_EQ(vectors.element(3, 0, 0), 3U);
  EXPECT_EQ(vectors.element(0, 1, 0), 4U);
}

TEST(LinearLayout, OrderOfRegistersIsNoDifference) {
  EXPECT_EQ(LinearLayout(3, {4, 1, 2, 0}, {}, {}), LinearLayout(3, {2, 4, 1}, {0, 0}, {}));
  EXPECT_NE(LinearLayout(3, {4, 1}, {2}, {}), LinearLayout(3, {4, 2}, {1}, {}));
}

TEST(LinearLayout, RefusesWhatIsNone) {
  EXPECT_THROW(LinearLayout(2, {1}, {}, {}), std::logic_error);
  EXPECT_THROW(LinearLayout(0, {}, {0, 0, 0, 0, 0, 0}, {}), std::logic_error);
  EXPECT_THROW((void)LinearLayout::flat({3}, 2), std::logic_error);
}

TEST(LinearLayout, FindsTheRegisterOfAnElement) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const LinearLayout layout = random_layout(random, 6, 1);
    std::map<std::uint32_t, std::uint32_t> held;
    for (std::uint32_t reg = 0; reg < layout.register_count(); ++reg) {
      held[layout.element(reg, 0, 0)] = reg;
    }
    for (std::uint32_t element = 0; element < 64; ++element) {
      const auto found = layout.register_of(element);
      ASSERT_EQ(found.has_value(), held.count(element) == 1);
      if (found) {
        EXPECT_EQ(*found, held[element]);
      }
    }
  }
}

// Coordinates by plain division, as the definition of the operations has them.
std::vector<std::int64_t> coordinates(std::uint32_t element, const ir::Shape& shape) {
  std::vector<std::int64_t> at(shape.size());
  std::int64_t rest = element;
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = rest % shape[d];
    rest /= shape[d];
  }
  return at;
}

std::uint32_t element_at(const std::vector<std::int64_t>& at, const ir::Shape& shape) {
  std::int64_t element = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + at[d];
  return static_cast<std::uint32_t>(element);
}

template <class Check>
void for_all_places(const LinearLayout& layout, const Check& check) {
  for (std::uint32_t warp = 0; warp < 1U << layout.warp_bits(); ++warp) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t reg = 0; reg < layout.register_count(); ++reg) check(reg, lane, warp);
    }
  }
}

/// That thread (lane, warp) holds `element` in some register of `layout`.
bool holds(const LinearLayout& layout, std::uint32_t lane, std::uint32_t warp,
           std::uint32_t element) {
  return layout.register_of(element ^ layout.element(0, lane, warp)).has_value();
}

TEST(LinearLayout, PermuteMovesNothing) {
  for (const auto& shape : shapes()) {
    std::vector<int> dims(shape.size());
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int>(d);
    do {
      ir::Shape to;
      for (const int d : dims) to.push_back(shape[static_cast<std::size_t>(d)]);
      const auto source = permute_bits(shape, dims);
      for (const auto& layout : layouts_of(shape, 1)) {
        const auto result = layout.with_bits(source);
        EXPECT_EQ(result.with_bits(inverse_bits(source)), layout);
        for_all_places(layout, [&](std::uint32_t reg, std::uint32_t lane, std::uint32_t warp) {
          const auto at = coordinates(layout.element(reg, lane, warp), shape);
          std::vector<std::int64_t> moved;
          for (const int d : dims) moved.push_back(at[static_cast<std::size_t>(d)]);
          EXPECT_TRUE(holds(result, lane, warp, element_at(moved, to)));
        });
      }
    } while (std::next_permutation(dims.begin(), dims.end()) && shape.size() < 4);
  }
}

TEST(LinearLayout, BroadcastOperandsAreWhereTheyAreNeeded) {
  for (const auto& to : shapes()) {
    for (std::uint32_t repeated = 0; repeated < 1U << to.size(); ++repeated) {
      ir::Shape from = to;
      for (std::size_t d = 0; d < to.size(); ++d) {
        if ((repeated >> d & 1U) != 0) from[d] = 1;
      }
      const auto source = broadcast_bits(from, to);
      for (const auto& layout : layouts_of(to, 2)) {
        const auto operand = layout.with_bits(source);
        EXPECT_LE(operand.register_count(), layout.register_count());
        for_all_places(layout, [&](std::uint32_t reg, std::uint32_t lane, std::uint32_t warp) {
          auto at = coordinates(layout.element(reg, lane, warp), to);
          for (std::size_t d = 0; d < at.size(); ++d) at[d] %= from[d];
          EXPECT_EQ(element_at(at, from), gather(layout.element(reg, lane, warp), source));
          EXPECT_TRUE(holds(operand, lane, warp, element_at(at, from)));
        });
      }
    }
    EXPECT_EQ(LinearLayout::flat(to, 2).with_bits(broadcast_bits({}, to)),
              LinearLayout::flat({}, 2));
  }
}

TEST(LinearLayout, SlicesForReductions) {
  for (const auto& shape : shapes()) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      ir::Shape rest = shape;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
      const auto source = slice_bits(shape, static_cast<int>(axis));
      for (const auto& layout : layouts_of(shape, 2)) {
        const auto result = layout.with_bits(source);
        for_all_places(layout, [&](std::uint32_t reg, std::uint32_t lane, std::uint32_t warp) {
          auto at = coordinates(layout.element(reg, lane, warp), shape);
          at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
          EXPECT_TRUE(holds(result, lane, warp, element_at(at, rest)));
        });
      }
    }
  }
}

/// Carries out a plan on element numbers and looks whether each place of `to` got its own.
void check_conversion(const LinearLayout& from, const LinearLayout& to, const Conversion& plan) {
  if (plan.kind == Conversion::Kind::shared) return;
  for_all_places(to, [&](std::uint32_t reg, std::uint32_t lane, std::uint32_t warp) {
    const std::uint32_t other =
        plan.lane_of_register[reg] ^ plan.lanes.apply(lane) ^ plan.warps.apply(warp);
    if (plan.kind == Conversion::Kind::registers) {
      ASSERT_EQ(other, lane);
    }
    ASSERT_LT(other, 32U);
    ASSERT_EQ(from.element(plan.source_register[reg], other, warp), to.element(reg, lane, warp))
        << to_string(from) << " -> " << to_string(to);
  });
}

TEST(Conversion, BetweenAllBlockedLayouts) {
  for (const auto& shape : shapes()) {
    for (int warp_bits = 0; warp_bits <= 3; ++warp_bits) {
      const auto all = layouts_of(shape, warp_bits);
      for (const auto& from : all) {
        for (const auto& to : all) {
          const auto plan = plan_conversion(from, to);
          check_conversion(from, to, plan);
          if (from == to) {
            EXPECT_EQ(plan.kind, Conversion::Kind::registers);
          }
          if (warp_bits == 0 && from.register_bits() == 0) {
            EXPECT_NE(plan.kind, Conversion::Kind::shared);
          }
        }
      }
    }
  }
}

TEST(Conversion, BetweenRandomLayouts) {
  std::mt19937 random(5);
  std::map<Conversion::Kind, int> seen;
  for (int round = 0; round < 3000; ++round) {
    const int bits = static_cast<int>(random() % 7);
    const int warp_bits = static_cast<int>(random() % 3);
    const auto from = random_layout(random, bits, warp_bits);
    const auto to = random_layout(random, bits, warp_bits);
    const auto plan = plan_conversion(from, to);
    ++seen[plan.kind];
    check_conversion(from, to, plan);
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(Conversion, TakesTheCheapestWay) {
  const LinearLayout by_lane(5, {}, {1, 2, 4, 8, 16}, {0});
  const LinearLayout by_register(5, {1, 2, 4, 8, 16}, {}, {0});
  const LinearLayout reversed(5, {}, {16, 8, 4, 2, 1}, {0});
  const LinearLayout by_warp(5, {2, 4, 8, 16}, {}, {1});
  using Kind = Conversion::Kind;
  EXPECT_EQ(plan_conversion(by_register, by_register).kind, Kind::registers);
  EXPECT_EQ(plan_conversion(by_lane, reversed).kind, Kind::shuffle);
  EXPECT_EQ(plan_conversion(by_lane, by_register).kind, Kind::shuffle);
  EXPECT_EQ(plan_conversion(by_lane, by_warp).kind, Kind::shuffle);
  EXPECT_EQ(plan_conversion(by_warp, by_lane).kind, Kind::shared);
  // A copy for every warp may be read by any.
  const LinearLayout copies(1, {}, {1}, {0, 0});
  const LinearLayout spread(1, {}, {0}, {1, 0});
  EXPECT_EQ(plan_conversion(copies, spread).kind, Kind::shuffle);
  EXPECT_EQ(plan_conversion(spread, copies).kind, Kind::shared);
}

TEST(Conversion, SharedPositionsAreOneToOne) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const int bits = static_cast<int>(random() % 9);
    const auto from = random_layout(random, bits, 1);
    const auto to = random_layout(random, bits, 1);
    for (const int bytes : {1, 2, 4, 8}) {
      const auto positions = shared_positions(from, to, bytes);
      std::set<std::uint32_t> used;
      for (std::uint32_t element = 0; element < 1U << bits; ++element) {
        const auto position = positions.apply(element);
        EXPECT_LT(position, 1U << bits);
        EXPECT_TRUE(used.insert(position).second);
      }
    }
  }
}

/// Counts what `bank_conflict_bits` computes: the most words that one bank has to give.
std::uint64_t conflicts_counted(const LinearLayout& layout, const BitMatrix& positions,
                                int element_bytes) {
  const int parts = std::max(1, element_bytes / 4);
  std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
  for (std::uint32_t lane = 0; lane < 32U / static_cast<unsigned>(parts); ++lane) {
    const std::uint64_t byte = std::uint64_t{positions.apply(layout.element(0, lane, 0))} *
                               static_cast<std::uint64_t>(element_bytes);
    for (int part = 0; part < parts; ++part) {
      const std::uint64_t word = byte / 4 + static_cast<std::uint64_t>(part);
      words_of_bank[word % 32].insert(word);
    }
  }
  std::size_t most = 0;
  for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
  return most;
}

TEST(Conversion, CountsBankConflicts) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto layout = random_layout(random, 10, 2);
    for (const int bytes : {1, 2, 4, 8}) {
      const auto positions = shared_positions(layout, LinearLayout::flat({1024}, 2), bytes);
      EXPECT_EQ(std::uint64_t{1} << bank_conflict_bits(layout, positions, bytes),
                conflicts_counted(layout, positions, bytes))
          << to_string(layout);
    }
  }
}

TEST(Conversion, TransposesWithoutBankConflicts) {
  for (const auto& shape : {ir::Shape{32, 32}, ir::Shape{64, 64}, ir::Shape{128, 32}}) {
    const auto rows = LinearLayout::blocked(shape, {1, 0}, 0, 2);
    const auto columns = LinearLayout::blocked(shape, {0, 1}, 0, 2);
    for (const int bytes : {4, 8}) {
      const auto positions = shared_positions(rows, columns, bytes);
      EXPECT_EQ(bank_conflict_bits(rows, positions, bytes), 0);
      EXPECT_EQ(bank_conflict_bits(columns, positions, bytes), 0);
    }
  }
}

}  // namespace
}  // namespace teeny::compiler
