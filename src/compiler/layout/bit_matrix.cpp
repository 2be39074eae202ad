#include "compiler/layout/bit_matrix.hpp"

#include <bit>
#include <numeric>

namespace teeny::compiler {

std::uint32_t BitMatrix::apply(std::uint32_t input) const noexcept {
  std::uint32_t output = 0;
  for (std::size_t bit = 0; bit < columns_.size(); ++bit) {
    if ((input >> bit & 1U) != 0) output ^= columns_[bit];
  }
  return output;
}

BitMatrix BitMatrix::after(const BitMatrix& first) const {
  std::vector<std::uint32_t> columns;
  columns.reserve(first.columns_.size());
  for (const std::uint32_t column : first.columns_) columns.push_back(apply(column));
  return BitMatrix(std::move(columns));
}

std::uint32_t BitMatrix::dependent_bits() const {
  std::vector<std::uint32_t> basis;
  std::uint32_t dependent = 0;
  for (int bit = 0; bit < input_bits(); ++bit) {
    std::uint32_t rest = column(bit);
    for (const std::uint32_t vector : basis) rest = std::min(rest, rest ^ vector);
    if (rest == 0) {
      dependent |= 1U << bit;
    } else {
      basis.push_back(rest);
    }
  }
  return dependent;
}

int BitMatrix::rank() const { return input_bits() - std::popcount(dependent_bits()); }

BitSolver::BitSolver(const BitMatrix& matrix, const std::vector<int>& preference) {
  for (const int bit : preference) add(matrix.column(bit), bit);
}

BitSolver::BitSolver(const BitMatrix& matrix) {
  for (int bit = 0; bit < matrix.input_bits(); ++bit) add(matrix.column(bit), bit);
}

void BitSolver::add(std::uint32_t column, int bit) {
  std::uint32_t inputs = 1U << bit;
  for (const Row& row : rows_) {
    if ((column & row.pivot) != 0) {
      column ^= row.vector;
      inputs ^= row.inputs;
    }
  }
  if (column != 0) rows_.push_back({column, inputs, std::bit_floor(column)});
}

std::optional<std::uint32_t> BitSolver::solve(std::uint32_t output) const noexcept {
  std::uint32_t input = 0;
  for (const Row& row : rows_) {
    if ((output & row.pivot) != 0) {
      output ^= row.vector;
      input ^= row.inputs;
    }
  }
  if (output != 0) return std::nullopt;
  return input;
}

}  // namespace teeny::compiler
