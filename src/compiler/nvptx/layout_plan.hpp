#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/layout/linear_layout.hpp"
#include "compiler/passes/axis_analysis.hpp"

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler::nvptx {

using LayoutId = std::uint32_t;

/// The widest access of one thread to memory.
inline constexpr int max_access_bytes = 16;

/// Every layout of a kernel once, under a number.
class LayoutTable {
 public:
  LayoutId add(const LinearLayout& layout);
  [[nodiscard]] const LinearLayout& operator[](LayoutId id) const { return layouts_.at(id); }
  [[nodiscard]] std::size_t size() const noexcept { return layouts_.size(); }

 private:
  std::vector<LinearLayout> layouts_;
};

/// Which layouts each value of a prepared kernel is wanted in, decided before anything is emitted.
///
/// A value is *derived* when it follows from scalars, constants and ranges by arithmetic alone: it
/// is computed anew in each layout that is wanted, which is cheaper than moving it. Any other value
/// is computed in one layout, its home, and converted from there. Values that elementwise
/// operations, loops and branches tie together share one home, so conversions happen where they
/// must: around `dot`, permutations and broadcasts of rows and columns. Where memory is read or
/// written, a thread holds neighbours in memory, up to the widest access, and the next thread the
/// next ones.
struct LayoutPlan {
  LayoutTable table = {};
  /// By value: the layouts it is wanted in. Of a value that is not derived the first is its home.
  /// Values of one element have one layout, and it is not listed when nothing asks for it.
  std::vector<std::vector<LayoutId>> layouts = {};
  std::vector<bool> derived = {};
  /// By operation: store: the layout in which it stores; reduce: of its operands; dot: of its
  /// result.
  std::unordered_map<const ir::Op*, LayoutId> working = {};
  /// dot: the layouts in which its first two operands are taken.
  std::unordered_map<const ir::Op*, std::pair<LayoutId, LayoutId>> dot_operands = {};

  [[nodiscard]] LayoutId home(ir::ValueId value) const { return layouts.at(value).at(0); }
};

/// The plan keeps pointers to the operations of `kernel`, which has to stay where it is.
[[nodiscard]] LayoutPlan plan_layouts(const ir::Kernel& kernel, const AxisAnalysis& axes);

/// The layout of a dot's result: each thread holds a rectangle, so that a value read from shared
/// memory is used several times: up to four neighbouring columns, rows far apart.
[[nodiscard]] LinearLayout dot_layout(const ir::Shape& shape, int warp_bits);

/// Whether each column of a layout moves along `axis` only or not at all, and none but zero columns
/// repeat elements, so that a reduction is a matter of registers, lanes and warps apart.
[[nodiscard]] bool separates(const LinearLayout& layout, const ir::Shape& shape, int axis);

}  // namespace teeny::compiler::nvptx
