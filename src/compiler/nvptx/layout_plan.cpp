#include "compiler/nvptx/layout_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace teeny::compiler::nvptx {

using ir::Block;
using ir::no_value;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

LayoutId LayoutTable::add(const LinearLayout& layout) {
  const auto found = std::find(layouts_.begin(), layouts_.end(), layout);
  if (found == layouts_.end()) {
    layouts_.push_back(layout);
    return static_cast<LayoutId>(layouts_.size() - 1);
  }
  return static_cast<LayoutId>(found - layouts_.begin());
}

LinearLayout dot_layout(const ir::Shape& shape, int warp_bits) {
  const std::vector<int> bits = extent_bits(shape);
  const int rows = bits[0];
  const int columns = bits[1];
  const int thread_bits = LinearLayout::lane_bits + warp_bits;
  const int register_bits = std::max(0, rows + columns - thread_bits);
  const int register_columns = std::clamp(register_bits / 2, std::max(0, register_bits - rows),
                                          std::min(columns, register_bits));
  const int register_rows = register_bits - register_columns;

  const auto column_bit = [](int bit) { return 1U << bit; };
  const auto row_bit = [columns](int bit) { return 1U << (columns + bit); };
  // Two neighbouring bits of columns make a vector of four; further ones are far apart, as rows
  // are.
  const int neighbours = std::min(2, register_columns);
  const int far_columns = register_columns - neighbours;
  std::vector<std::uint32_t> registers;
  for (int bit = 0; bit < neighbours; ++bit) registers.push_back(column_bit(bit));
  for (int bit = columns - far_columns; bit < columns; ++bit) registers.push_back(column_bit(bit));
  for (int bit = rows - register_rows; bit < rows; ++bit) registers.push_back(row_bit(bit));
  std::vector<std::uint32_t> threads;
  for (int bit = neighbours; bit < columns - far_columns; ++bit) threads.push_back(column_bit(bit));
  for (int bit = 0; bit < rows - register_rows; ++bit) threads.push_back(row_bit(bit));
  threads.resize(static_cast<std::size_t>(thread_bits));
  return LinearLayout(rows + columns, std::move(registers),
                      {threads.begin(), threads.begin() + LinearLayout::lane_bits},
                      {threads.begin() + LinearLayout::lane_bits, threads.end()});
}

bool separates(const LinearLayout& layout, const ir::Shape& shape, int axis) {
  std::uint32_t along = (1U << layout.element_bits()) - 1;
  for (const int bit : slice_bits(shape, axis)) along &= ~(1U << bit);
  const BitMatrix matrix = layout.matrix();
  const auto zeros = std::count(matrix.columns().begin(), matrix.columns().end(), 0U);
  if (matrix.rank() + zeros != matrix.input_bits()) return false;
  return std::all_of(matrix.columns().begin(), matrix.columns().end(), [&](std::uint32_t column) {
    return (column & along) == 0 || (column & ~along) == 0;
  });
}

namespace {

/// Values that are to share a home.
class Classes {
 public:
  explicit Classes(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), ValueId{0});
  }
  ValueId find(ValueId value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }
  void join(ValueId a, ValueId b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<ValueId> parent_;
};

/// What there is to choose a class's home by; the first of each kind in program order.
struct Facts {
  const Op* dot = nullptr;
  const Op* reduce = nullptr;
  const Op* broadcast = nullptr;  ///< that reads a member
  const Op* permute = nullptr;
  const Op* load = nullptr;  ///< of these two the first that finds the most neighbours
  const Op* store = nullptr;
  int widest = 1;  ///< bytes of the largest element that is loaded or stored
  bool in_progress = false;
  std::optional<LayoutId> layout = {};
};

class Planner {
 public:
  Planner(const ir::Kernel& kernel, const AxisAnalysis& axes)
      : kernel_(kernel),
        axes_(axes),
        warp_bits_(std::countr_zero(static_cast<unsigned>(kernel.options.num_warps))),
        classes_(kernel.values.size()),
        facts_(kernel.values.size()) {
    plan_.layouts.resize(kernel.values.size());
    plan_.derived.resize(kernel.values.size());
  }

  LayoutPlan plan() {
    for (const ValueId argument : kernel_.body.arguments) plan_.derived[argument] = true;
    find_derived(kernel_.body);
    join_block(kernel_.body);
    collect_facts(kernel_.body);
    for (ValueId value = 0; value < kernel_.values.size(); ++value) {
      if (moves(value)) plan_.layouts[value] = {home(value)};
    }
    demand_block(kernel_.body);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const ir::Type& type(ValueId value) const { return kernel_.type(value); }
  [[nodiscard]] bool single(ValueId value) const { return type(value).count() == 1; }
  /// Has a home: holds several elements and is not derived.
  [[nodiscard]] bool moves(ValueId value) const { return !plan_.derived[value] && !single(value); }

  static bool passes_elements_on(Opcode code) {
    return ir::is_elementwise(code) || code == Opcode::reshape;
  }

  void find_derived(const Block& block) {
    for (const Op& op : block.ops) {
      const bool pure = op.code == Opcode::constant || op.code == Opcode::arange ||
                        op.code == Opcode::program_id || op.code == Opcode::num_programs ||
                        passes_elements_on(op.code) || op.code == Opcode::broadcast ||
                        op.code == Opcode::permute;
      const bool derived = pure && std::none_of(op.operands.begin(), op.operands.end(),
                                                [&](ValueId operand) { return moves(operand); });
      for (const ValueId result : op.results) plan_.derived[result] = derived;
      for (const Block& region : op.regions) find_derived(region);
    }
  }

  void join_if_both_move(ValueId a, ValueId b) {
    if (moves(a) && moves(b)) classes_.join(a, b);
  }

  void join_block(const Block& block) {
    for (const Op& op : block.ops) {
      for (const Block& region : op.regions) join_block(region);
      if (passes_elements_on(op.code) || op.code == Opcode::load) {
        for (const ValueId operand : op.operands) join_if_both_move(operand, op.results[0]);
      } else if (op.code == Opcode::store) {
        for (const ValueId operand : op.operands) join_if_both_move(operand, op.operands[1]);
      } else if (op.code == Opcode::dot) {
        join_if_both_move(op.operands[2], op.results[0]);
      } else if (op.code == Opcode::fold) {
        const Block& body = op.regions[0];
        for (std::size_t i = 0; i < op.results.size(); ++i) {
          join_if_both_move(op.operands[3 + i], op.results[i]);
          join_if_both_move(body.arguments[1 + i], op.results[i]);
          join_if_both_move(body.ops.back().operands[i], op.results[i]);
        }
      } else if (op.code == Opcode::if_) {
        for (const Block& region : op.regions) {
          for (std::size_t i = 0; i < op.results.size(); ++i) {
            join_if_both_move(region.ops.back().operands[i], op.results[i]);
          }
        }
      }
    }
  }

  void collect_facts(const Block& block) {
    const auto note = [this](ValueId value, const Op* Facts::* kind, const Op& op) {
      const Op*& fact = facts_[classes_.find(value)].*kind;
      if (fact == nullptr) fact = &op;
    };
    for (const Op& op : block.ops) {
      if (op.code == Opcode::dot) note(op.results[0], &Facts::dot, op);
      if (op.code == Opcode::load) note_access(op.results[0], &Facts::load, op);
      if (op.code == Opcode::store) note_access(op.operands[1], &Facts::store, op);
      if (op.code == Opcode::permute) note(op.results[0], &Facts::permute, op);
      if (op.code == Opcode::broadcast) note(op.operands[0], &Facts::broadcast, op);
      if (op.code == Opcode::reduce) {
        for (const ValueId result : op.results) note(result, &Facts::reduce, op);
      }
      for (const Block& region : op.regions) collect_facts(region);
    }
  }

  void note_access(ValueId value, const Op* Facts::* kind, const Op& op) {
    Facts& facts = facts_[classes_.find(value)];
    facts.widest = std::max(facts.widest, size_of(type(value).dtype));
    const Op*& fact = facts.*kind;
    if (fact == nullptr || neighbour_bits(op.operands[0]) > neighbour_bits(fact->operands[0])) {
      fact = &op;
    }
  }

  /// log2 of how many neighbours in memory are neighbours along an axis, as far as it matters.
  [[nodiscard]] int neighbour_bits(ValueId pointer) const {
    int bits = 0;
    for (const AxisFacts& facts : axes_.of(pointer)) bits = std::max(bits, facts.contiguous);
    return std::min(bits, log2_of(max_access_bytes));
  }

  static int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

  LayoutId flat(const ir::Shape& shape) {
    return plan_.table.add(LinearLayout::flat(shape, warp_bits_));
  }

  /// The home of a value that moves.
  LayoutId home(ValueId value) {
    Facts& facts = facts_[classes_.find(value)];
    if (facts.layout) return *facts.layout;
    // A class whose layout hangs on itself (by way of reductions and broadcasts) is dealt out flat.
    if (facts.in_progress) return flat(type(value).shape);
    facts.in_progress = true;
    const LayoutId chosen = plan_.table.add(choose(value, facts));
    facts.layout = chosen;
    return chosen;
  }

  LinearLayout choose(ValueId value, const Facts& facts) {
    if (facts.dot != nullptr) {
      return dot_layout(type(facts.dot->results[0]).shape, warp_bits_);
    }
    if (facts.reduce != nullptr) {
      const ir::Shape& shape = type(facts.reduce->operands[0]).shape;
      const LayoutId from = reduce_layout(*facts.reduce);
      return plan_.table[from].with_bits(slice_bits(shape, static_cast<int>(facts.reduce->index)));
    }
    if (facts.broadcast != nullptr && moves(facts.broadcast->results[0])) {
      const ValueId result = facts.broadcast->results[0];
      const LayoutId to = home(result);
      return plan_.table[to].with_bits(
          broadcast_bits(type(facts.broadcast->operands[0]).shape, type(result).shape));
    }
    if (facts.load != nullptr) return memory_layout(facts.load->operands[0], facts.widest);
    if (facts.permute != nullptr && moves(facts.permute->operands[0])) {
      const ValueId operand = facts.permute->operands[0];
      const LayoutId from = home(operand);
      return plan_.table[from].with_bits(permute_bits(type(operand).shape, facts.permute->dims));
    }
    if (facts.store != nullptr) return memory_layout(facts.store->operands[0], facts.widest);
    return LinearLayout::flat(type(value).shape, warp_bits_);
  }

  /// Neighbours in memory in one thread, as many as one access takes of elements of `widest` bytes
  /// and as leave no thread without any, and the next ones in the next thread.
  LinearLayout memory_layout(ValueId pointer, int widest) {
    const ir::Shape& shape = type(pointer).shape;
    if (single(pointer)) return LinearLayout::flat(shape, warp_bits_);
    const std::vector<int> order = axes_.memory_order(pointer);
    const std::vector<int> bits = extent_bits(shape);
    const int all_bits = std::accumulate(bits.begin(), bits.end(), 0);
    const int spare_bits = std::max(0, all_bits - LinearLayout::lane_bits - warp_bits_);
    const auto fastest = static_cast<std::size_t>(order.at(0));
    const int vector_bits = std::min(
        {axes_.of(pointer)[fastest].contiguous, spare_bits, log2_of(max_access_bytes / widest)});
    return LinearLayout::blocked(shape, order, vector_bits, warp_bits_);
  }

  LayoutId reduce_layout(const Op& op) {
    const ir::Shape& shape = type(op.operands[0]).shape;
    for (const ValueId operand : op.operands) {
      if (!moves(operand)) continue;
      const LayoutId layout = home(operand);
      if (separates(plan_.table[layout], shape, static_cast<int>(op.index))) return layout;
    }
    return flat(shape);
  }

  /// Where a tile is stored from: from where it is, if that makes whole memory transactions.
  LayoutId store_layout(const Op& op) {
    const ValueId pointer = op.operands[0];
    const int bytes = size_of(type(pointer).dtype);
    const LinearLayout wanted = memory_layout(pointer, bytes);
    for (const ValueId operand : op.operands) {
      if (!moves(operand)) continue;
      const LayoutId now = home(operand);
      if (moves(pointer) || coalesces(plan_.table[now], pointer, bytes)) return now;
    }
    return plan_.table.add(wanted);
  }

  /// Whether neighbouring threads touch whole memory transactions, of 32 bytes, or all there is.
  bool coalesces(const LinearLayout& layout, ValueId pointer, int bytes) {
    constexpr int transaction_bits = 5;
    // One element after the other in memory, as far as that goes.
    const LinearLayout single = memory_layout(pointer, max_access_bytes);
    std::vector<std::uint32_t> columns = single.lane_columns();
    const auto& registers = layout.register_columns();
    std::size_t next = 0;
    int covered = log2_of(bytes);
    while (next < columns.size() && columns[next] != 0 &&
           std::find(registers.begin(), registers.end(), columns[next]) != registers.end()) {
      ++next;
      ++covered;
    }
    for (const std::uint32_t lane : layout.lane_columns()) {
      if (next == columns.size() || columns[next] == 0 || columns[next] != lane) break;
      ++next;
      ++covered;
    }
    return covered >= transaction_bits || next == columns.size() || columns[next] == 0;
  }

  void demand(ValueId value, LayoutId layout) {
    if (single(value)) return;
    auto& list = plan_.layouts[value];
    if (std::find(list.begin(), list.end(), layout) == list.end()) list.push_back(layout);
  }

  void demand_block(const Block& block) {
    for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) demand_operands(*op);
  }

  void demand_operands(const Op& op) {
    switch (op.code) {
      case Opcode::store: {
        const LayoutId layout = store_layout(op);
        plan_.working[&op] = layout;
        for (const ValueId operand : op.operands) demand(operand, layout);
        return;
      }
      case Opcode::reduce: {
        const LayoutId layout = reduce_layout(op);
        plan_.working[&op] = layout;
        for (const ValueId operand : op.operands) demand(operand, layout);
        return;
      }
      case Opcode::dot:
        return demand_dot(op);
      case Opcode::fold: {
        const Block& body = op.regions[0];
        demand_yield(op, body);
        demand_block(body);
        for (std::size_t i = 0; i < op.results.size(); ++i) {
          if (!single(op.results[i])) demand(op.operands[3 + i], plan_.home(op.results[i]));
        }
        return;
      }
      case Opcode::if_:
        for (const Block& region : op.regions) {
          demand_yield(op, region);
          demand_block(region);
        }
        return;
      default:
        if (op.results.size() == 1 && !single(op.results[0])) demand_elementwise(op);
    }
  }

  void demand_yield(const Op& op, const Block& region) {
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (!single(op.results[i])) {
        demand(region.ops.back().operands[i], plan_.home(op.results[i]));
      }
    }
  }

  void demand_dot(const Op& op) {
    const auto taken = [this](ValueId operand) {
      return moves(operand) ? home(operand) : flat(type(operand).shape);
    };
    const auto operands = std::pair(taken(op.operands[0]), taken(op.operands[1]));
    const LayoutId layout = plan_.table.add(dot_layout(type(op.results[0]).shape, warp_bits_));
    plan_.dot_operands[&op] = operands;
    plan_.working[&op] = layout;
    demand(op.operands[0], operands.first);
    demand(op.operands[1], operands.second);
    demand(op.operands[2], layout);
  }

  void demand_elementwise(const Op& op) {
    const ValueId result = op.results[0];
    // A value that is not derived is computed at home; its other layouts are converted from there.
    std::vector<LayoutId> computed = plan_.layouts[result];
    if (!plan_.derived[result]) computed.resize(1);
    for (const LayoutId layout : computed) {
      for (const ValueId operand : op.operands) {
        if (single(operand)) continue;
        LayoutId wanted = layout;
        if (op.code == Opcode::broadcast) {
          wanted = plan_.table.add(plan_.table[layout].with_bits(
              broadcast_bits(type(operand).shape, type(result).shape)));
        } else if (op.code == Opcode::permute) {
          wanted = plan_.table.add(plan_.table[layout].with_bits(
              inverse_bits(permute_bits(type(operand).shape, op.dims))));
        }
        demand(operand, wanted);
      }
    }
  }

  const ir::Kernel& kernel_;
  const AxisAnalysis& axes_;
  int warp_bits_;
  Classes classes_;
  std::vector<Facts> facts_;
  LayoutPlan plan_;
};

}  // namespace

LayoutPlan plan_layouts(const ir::Kernel& kernel, const AxisAnalysis& axes) {
  return Planner(kernel, axes).plan();
}

}  // namespace teeny::compiler::nvptx
