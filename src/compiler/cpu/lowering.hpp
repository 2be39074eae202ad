#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/cpu/elementwise.hpp"
#include "compiler/cpu/lanes.hpp"
#include "compiler/cpu/plan.hpp"
#include "compiler/cpu/scratch.hpp"
#include "compiler/cpu/target_traits.hpp"

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler::cpu {

/// Turns one prepared kernel into one LLVM function. Scalars are SSA values; a tile is either
/// stored in scratch memory or computed in the loops of what uses it (see Plan). Loops go over
/// vectors of adjacent elements.
class Lowering {
 public:
  Lowering(const ir::Kernel& kernel, llvm::Module& module, const CpuTraits& traits);
  void run();
  [[nodiscard]] std::uint64_t scratch_bytes() const { return scratch_.high_water(); }

 private:
  /// A tile in memory, row-major.
  struct Buffer {
    llvm::Value* address = nullptr;
    ir::Type type = {};
    Scratch::Slot slot = {};  ///< of size 0: somebody else's
  };
  using Values = std::vector<llvm::Value*>;
  using Body = std::function<void(const PointRef&)>;

  // lowering.cpp: operations in program order
  void make_function();
  void emit_block(const ir::Block& block);
  void emit_op(const ir::Op& op);
  void emit_scalar(const ir::Op& op);
  void emit_store(const ir::Op& op);
  void store_tile(ir::ValueId value, const Buffer& buffer);
  Buffer allocate(const ir::Type& type);
  void release(const ir::Op& op);
  void bind(ir::ValueId value, const ir::Type& type);

  // control.cpp: fold and if
  void emit_fold(const ir::Op& op);
  void emit_if(const ir::Op& op);
  void emit_region(const ir::Block& region, const std::vector<Buffer>& buffers, Values& scalars);
  void forward_yields(const ir::Op& yield, const std::vector<Buffer>& buffers);

  // nest.cpp: loops and points
  void loop(std::int64_t extent, std::int64_t step, const std::function<void(llvm::Value*)>& body);
  void nest(const ir::Shape& shape, int lanes, const Body& body);
  void nest_over(const ir::Shape& shape, const std::vector<ir::ValueId>& roots, int lanes,
                 const Body& body);
  [[nodiscard]] int lanes_for(const ir::Shape& shape, const std::vector<ir::ValueId>& roots) const;
  PointRef map_point(const ir::Op& op, const PointRef& point);
  PointRef keep(Point point);
  PointRef reshaped(const PointRef& point, const ir::Shape& from, const ir::Shape& to);
  llvm::Value* index(std::int64_t value);
  llvm::Value* add_index(llvm::Value* left, llvm::Value* right);
  llvm::Value* scale_index(llvm::Value* value, std::int64_t factor);

  // evaluate.cpp: the elements of a tile at a point
  Lanes evaluate(ir::ValueId value, const PointRef& point);
  Lanes compute(ir::ValueId value, const PointRef& point);
  Lanes elementwise(const ir::Op& op, const std::vector<Lanes>& operands, int lanes);
  Lanes offset(const ir::Op& op, const Lanes& pointer, const Lanes& elements, int lanes);
  void note_arithmetic(const ir::Op& op, const std::vector<Lanes>& operands, Lanes& result);
  Lanes scalar(ir::ValueId value);
  llvm::Value* as_vector(const Lanes& value, const ir::Type& type, int lanes);
  llvm::Value* pointer_vector(const Lanes& value, const ir::Type& type, int lanes);

  // memory.cpp: loads, stores, buffers and masks
  Lanes load(const ir::Op& op, const PointRef& point);
  void store(const ir::Op& op, const PointRef& point);
  llvm::Value* load_scalar(llvm::Value* pointer, const ir::Type& type, llvm::Value* mask,
                           llvm::Value* other);
  Lanes read(const Buffer& buffer, const PointRef& point);
  void write(const Buffer& buffer, const PointRef& point, const Lanes& value);
  llvm::Value* buffer_address(const Buffer& buffer, const PointRef& point,
                              std::vector<std::int64_t>& steps);
  [[nodiscard]] static std::int64_t stride_of(const Lanes& pointer);
  void store_elements(const ir::Op& op, const PointRef& point, llvm::Value* enabled);

  // versions.cpp: code for where masks are true and clamps change nothing
  struct Settled {
    std::vector<ir::ValueId> values;
    llvm::Value* condition = nullptr;  ///< i1, or null: always
  };
  using Visit = std::function<void(ir::ValueId, const ir::Op*)>;
  void for_each_tile(const std::vector<ir::ValueId>& roots, const Visit& visit) const;
  std::vector<ir::ValueId> candidates(const std::vector<ir::ValueId>& roots) const;
  Settled settle(const std::vector<ir::ValueId>& candidates, const PointRef& point);
  Values versioned(const Settled& settled, const std::function<Values()>& body);
  [[nodiscard]] bool is_settled(ir::ValueId value) const { return settled_.count(value) != 0; }

  // intervals.cpp: in what interval integers lie, over a whole tile (null) or at a point
  struct Interval {
    llvm::Value* start = nullptr;  ///< in the tile's integer type
    std::int64_t low = 0;
    std::int64_t high = 0;
    llvm::Value* valid = nullptr;  ///< i1: it is so; null: always
  };
  llvm::Value* always_true(ir::ValueId mask, const PointRef& point);
  std::optional<llvm::Value*> never_clamps(ir::ValueId clamp, const PointRef& point);
  [[nodiscard]] ir::ValueId clamped_operand(const ir::Op& op) const;
  std::optional<Interval> interval(ir::ValueId value, const PointRef& point);
  std::optional<Interval> interval_of_cast(const ir::Op& op, const PointRef& point);
  std::optional<Interval> interval_of_product(const ir::Op& op, const PointRef& point);
  std::optional<Interval> interval_of_clamp(const ir::Op& op, const PointRef& point);
  llvm::Value* unbroken(const Interval& interval, DType dtype);
  llvm::Value* bound(const Interval& interval, std::int64_t step);
  llvm::Value* at_most(llvm::Value* left, llvm::Value* right, DType dtype, bool strictly);
  PointRef operand_point(const ir::Op& op, const PointRef& point);

  // reduce.cpp
  void emit_reduce(const ir::Op& op);
  std::vector<Lanes> combine(const ir::Op& op, const std::vector<Lanes>& left,
                             const std::vector<Lanes>& right, int lanes);
  std::vector<Lanes> combine_over(const ir::Op& op, const Point& first, int axis,
                                  std::int64_t step);
  Values reduce_along(const ir::Op& op, const Point& outer, int axis);
  std::vector<Lanes> evaluate_operands(const ir::Op& op, const PointRef& point);
  Values evaluate_values(const ir::Op& op, const PointRef& point);
  [[nodiscard]] static bool is_straight(const ir::Block& region);

  // dot.cpp
  void emit_dot(const ir::Op& op);
  Buffer dot_operand(ir::ValueId value, DType as, bool& temporary);

  const ir::Kernel& kernel_;
  llvm::Module& module_;
  const CpuTraits traits_;
  const Plan plan_;
  Builder builder_;
  Scratch scratch_;
  llvm::Function* function_ = nullptr;
  llvm::Value* position_[3] = {};
  llvm::Value* grid_[3] = {};
  llvm::Value* scratch_base_ = nullptr;

  std::vector<llvm::Value*> scalars_;                     // by ValueId
  std::unordered_map<ir::ValueId, Lanes> region_;         // inside a vectorised reduction
  std::unordered_map<ir::ValueId, Buffer> buffers_;       // stored tiles, as bound so far
  std::unordered_map<ir::ValueId, Buffer> destinations_;  // where a yielded tile is to be made
  /// What has been computed in the current straight-line code.
  std::map<std::pair<ir::ValueId, const Point*>, Lanes> memo_;
  std::map<std::pair<const ir::Op*, const Point*>, PointRef> mapped_;
  std::vector<PointRef> points_;
  /// Masks that are true, and clamps that change nothing, in the code that is being made.
  std::set<ir::ValueId> settled_;
};

}  // namespace teeny::compiler::cpu
