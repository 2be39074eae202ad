#include "compiler/layout/runs.hpp"

#include <algorithm>

namespace teeny::compiler {
namespace {

/// The bit of the row-major index where an axis begins.
int first_bit(const ir::Shape& shape, int axis) {
  const std::vector<int> bits = extent_bits(shape);
  int first = 0;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < bits.size(); ++d) first += bits[d];
  return first;
}

}  // namespace

int run_bits(const LinearLayout& layout, const ir::Shape& shape, int axis) {
  const int first = first_bit(shape, axis);
  const int most = extent_bits(shape)[static_cast<std::size_t>(axis)];
  const auto& registers = layout.register_columns();
  // Neither another register nor another thread moves within a run.
  std::uint32_t elsewhere = 0;
  for (const auto* columns : {&layout.lane_columns(), &layout.warp_columns()}) {
    for (const std::uint32_t column : *columns) elsewhere |= column;
  }
  std::uint32_t of_runs = 0;
  int bits = 0;
  while (bits < most &&
         std::find(registers.begin(), registers.end(), 1U << (first + bits)) != registers.end()) {
    of_runs |= 1U << (first + bits++);
  }
  for (const std::uint32_t column : registers) {
    const bool of_run = (column & of_runs) == column;
    if (!of_run) elsewhere |= column;
  }
  for (int bit = 0; bit < bits; ++bit) {
    if ((elsewhere >> (first + bit) & 1U) != 0) return bit;
  }
  return bits;
}

std::vector<std::vector<std::uint32_t>> runs_of(const LinearLayout& layout, const ir::Shape& shape,
                                                int axis, int bits) {
  const int first = first_bit(shape, axis);
  const auto& columns = layout.register_columns();
  std::vector<std::uint32_t> run = {0};
  for (int bit = 0; bit < bits; ++bit) {
    const auto column = std::find(columns.begin(), columns.end(), 1U << (first + bit));
    const auto place = static_cast<std::uint32_t>(column - columns.begin());
    for (std::size_t i = 0, count = run.size(); i < count; ++i) run.push_back(run[i] | 1U << place);
  }
  std::vector<std::vector<std::uint32_t>> runs;
  for (std::uint32_t reg = 0; reg < layout.register_count(); ++reg) {
    if ((reg & run.back()) != 0) continue;
    runs.push_back(run);
    for (std::uint32_t& one : runs.back()) one |= reg;
  }
  return runs;
}

}  // namespace teeny::compiler
