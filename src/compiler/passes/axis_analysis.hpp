#pragma once

#include <vector>

#include "compiler/passes/axis_facts.hpp"

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// What is known of every value of a prepared kernel along its axes: contiguity, divisibility and
/// constancy, from the ranges, constants and grid positions that it is computed of. Memory and
/// parameters are of unknown content.
class AxisAnalysis {
 public:
  explicit AxisAnalysis(const ir::Kernel& kernel);

  /// By axis; of a scalar one axis of one element.
  [[nodiscard]] const std::vector<AxisFacts>& of(ir::ValueId value) const {
    return facts_.at(value);
  }
  /// The scalar that the distances of a pointer or of a tile of pointers are measured from;
  /// no_value when no one scalar serves all its elements, and then nothing is known to divide them.
  [[nodiscard]] ir::ValueId root(ir::ValueId pointer) const { return roots_.at(pointer); }
  /// Axes of a tile of pointers in the order in which memory is best walked: contiguous ones first,
  /// those along which nothing changes last, row-major where there is nothing to choose.
  [[nodiscard]] std::vector<int> memory_order(ir::ValueId pointer) const;

 private:
  using Facts = std::vector<AxisFacts>;

  void visit(const ir::Block& block);
  void visit(const ir::Op& op);
  void visit_fold(const ir::Op& op);
  void visit_if(const ir::Op& op);
  void visit_offset(const ir::Op& op);
  void visit_choice(const ir::Op& op);  ///< a select of pointers
  void forget(ir::ValueId value);
  /// Makes known of `value` only what is also known of `other`; whether that is less than before.
  bool meet_with(ir::ValueId value, ir::ValueId other);

  [[nodiscard]] const ir::Type& type(ir::ValueId value) const { return kernel_.type(value); }
  [[nodiscard]] bool is_integer(ir::ValueId value) const;
  /// Bits of the extent of each axis; of a scalar one axis of none.
  [[nodiscard]] std::vector<int> axis_bits(ir::ValueId value) const;
  [[nodiscard]] Facts splat(ir::ValueId value, int divisible) const;
  [[nodiscard]] Facts elementwise(const ir::Op& op) const;
  [[nodiscard]] AxisFacts elementwise(const ir::Op& op, std::size_t axis) const;
  [[nodiscard]] Facts reshaped(ir::ValueId from, ir::ValueId to) const;
  [[nodiscard]] Facts spread(ir::ValueId from, ir::ValueId to) const;
  /// Division and remainder by a power of two are matters of bits.
  [[nodiscard]] bool divides_by_bits(const ir::Op& op) const;
  [[nodiscard]] bool never_negative(const ir::Op& op) const;

  const ir::Kernel& kernel_;
  std::vector<Facts> facts_;
  std::vector<ir::ValueId> roots_;
  std::vector<const ir::Op*> constants_;  ///< the operation that defines a constant
  std::vector<bool> not_negative_;        ///< integers that are known to be at least 0
};

}  // namespace teeny::compiler
