#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace teeny::compiler {

/// A linear map over GF(2) between indices read as vectors of bits: bit i of the input contributes
/// `column(i)` to the output, contributions are added by exclusive or. At most 32 bits each way.
class BitMatrix {
 public:
  explicit BitMatrix(std::vector<std::uint32_t> columns) : columns_(std::move(columns)) {}

  [[nodiscard]] int input_bits() const noexcept { return static_cast<int>(columns_.size()); }
  [[nodiscard]] std::uint32_t column(int bit) const {
    return columns_.at(static_cast<std::size_t>(bit));
  }
  [[nodiscard]] const std::vector<std::uint32_t>& columns() const noexcept { return columns_; }

  [[nodiscard]] std::uint32_t apply(std::uint32_t input) const noexcept;
  /// `this` after `first`: (this * first)(x) = this(first(x)).
  [[nodiscard]] BitMatrix after(const BitMatrix& first) const;
  [[nodiscard]] int rank() const;
  /// Input bits whose column is a sum of earlier columns: setting them to zero loses no output.
  [[nodiscard]] std::uint32_t dependent_bits() const;

  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;

 private:
  std::vector<std::uint32_t> columns_;
};

/// Answers "which input gives this output?" for a matrix, after one elimination.
class BitSolver {
 public:
  /// Columns are considered in the order of `preference` (input bits, best first; bits left out are
  /// never used), so an answer uses the most preferred bits that can express it.
  BitSolver(const BitMatrix& matrix, const std::vector<int>& preference);
  /// All columns, lowest input bit first.
  explicit BitSolver(const BitMatrix& matrix);

  /// An input x with matrix(x) == output; nullopt when there is none.
  [[nodiscard]] std::optional<std::uint32_t> solve(std::uint32_t output) const noexcept;

 private:
  struct Row {
    std::uint32_t vector;  ///< a sum of columns whose highest bit is in no other row before it
    std::uint32_t inputs;  ///< the input bits of those columns
    std::uint32_t pivot;   ///< the bit by which the row eliminates
  };
  void add(std::uint32_t column, int bit);
  std::vector<Row> rows_;
};

}  // namespace teeny::compiler
