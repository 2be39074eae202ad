#pragma once

#include <optional>
#include <vector>

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler::nvptx {

/// How tiles of integers and pointers change from one element to the next along each dimension.
class Strides {
 public:
  explicit Strides(const ir::Kernel& kernel);

  /// Step along each dimension of a tile (pointers: in elements); nullopt where it is not a known
  /// constant. Empty for a scalar.
  [[nodiscard]] const std::vector<std::optional<std::int64_t>>& of(ir::ValueId value) const {
    return steps_.at(value);
  }
  /// Dimensions of a tile of pointers from the smallest step to the largest: those of step 1 first,
  /// then row-major, dimensions along which nothing changes last.
  [[nodiscard]] std::vector<int> memory_order(ir::ValueId pointer) const;

 private:
  using Steps = std::vector<std::optional<std::int64_t>>;
  void visit(const ir::Block& block);
  [[nodiscard]] Steps steps_of(const ir::Op& op) const;

  const ir::Kernel& kernel_;
  std::vector<Steps> steps_;
  std::vector<std::optional<std::int64_t>> constants_;  ///< of integer splats
};

}  // namespace teeny::compiler::nvptx
