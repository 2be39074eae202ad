#include "compiler/cpu/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace teeny::compiler::cpu {
namespace {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

// Costs are in simple vector operations.
constexpr int cheap = 6;  // computing it again costs less than storing and reading it
constexpr int cheap_index =
    64;  // addresses and masks: stored, they would hide that lanes are adjacent
constexpr int dear_cost = 1 << 20;

bool is_shape_op(Opcode code) {
  return code == Opcode::reshape || code == Opcode::broadcast || code == Opcode::permute;
}

bool is_leaf(Opcode code) { return code == Opcode::constant || code == Opcode::arange; }

int own_cost(const Op& op, const ir::Kernel& kernel) {
  switch (op.code) {
    case Opcode::constant:
    case Opcode::reshape:
    case Opcode::broadcast:
    case Opcode::permute:
      return 0;
    case Opcode::load:
      return 8;
    case Opcode::sqrt:
      return 8;
    case Opcode::div:
    case Opcode::rem:
      return is_float(kernel.type(op.operands[0]).dtype) ? 6 : 24;
    default:
      return 1;
  }
}

/// One place where a tile is evaluated in full: the nest of `op` (or, for a yield or an operand of
/// a dot, one of its nests), reached through the shape operations in `path`.
struct Demand {
  std::uint32_t root = 0;
  std::uint32_t path = 0;
  const Op* op = nullptr;
  const Block* block = nullptr;
  std::size_t position = 0;
  bool grown = false;     ///< through a broadcast that repeats it
  bool permuted = false;  ///< through a permute: adjacent lanes are not adjacent elements

  bool operator<(const Demand& other) const {
    return std::pair(root, path) < std::pair(other.root, other.path);
  }
};

struct BlockPlace {
  const Block* parent = nullptr;
  std::size_t position = 0;  ///< of the operation that owns the block, in the parent
  bool repeats = false;      ///< the block of a loop
};

struct ValuePlace {
  const Block* block = nullptr;
  std::size_t position = 0;
};

class Planner {
 public:
  explicit Planner(const ir::Kernel& kernel) : kernel_(kernel) {
    const std::size_t count = kernel.values.size();
    plan_.stored.assign(count, false);
    plan_.only_yielded.assign(count, false);
    plan_.definition.assign(count, nullptr);
    cost_.assign(count, 0);
    index_.assign(count, false);
    place_.assign(count, {});
    last_use_.assign(count, 0);
    demands_.resize(count);
  }

  Plan run() {
    survey(kernel_.body, {});
    decide(kernel_.body);
    for (ValueId value = 0; value < plan_.stored.size(); ++value) {
      const ValuePlace& place = place_[value];
      if (!plan_.stored[value] || plan_.definition[value] == nullptr) continue;
      const std::size_t last = std::max(last_use_[value], place.position);
      plan_.dead_after[&place.block->ops[last]].push_back(value);
    }
    return std::move(plan_);
  }

 private:
  /// Forward: where everything is, what it costs, which blocks write.
  void survey(const Block& block, const BlockPlace& where) {
    blocks_[&block] = where;
    for (const ValueId value : block.arguments) {
      place_[value] = {&block, 0};
      if (kernel_.type(value).pointer) index_[value] = true;
    }
    std::vector<bool>& writes = writes_[&block];
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      writes.push_back(ir::writes_memory(op));
      for (const Block& region : op.regions) survey(region, {&block, i, op.code == Opcode::fold});
      int cost = own_cost(op, kernel_);
      bool index = ir::is_elementwise(op.code) || is_shape_op(op.code) || is_leaf(op.code);
      for (const ValueId operand : op.operands) {
        cost = std::min(dear_cost, cost + cost_[operand]);
        if (!kernel_.type(operand).is_scalar()) index = index && index_[operand];
      }
      const bool ends_nest = !op.regions.empty() || op.code == Opcode::dot;
      for (const ValueId result : op.results) {
        const ir::Type& type = kernel_.type(result);
        plan_.definition[result] = &op;
        place_[result] = {&block, i};
        // A scalar is computed once, where it is defined.
        cost_[result] = ends_nest || type.is_scalar() ? 0 : cost;
        index_[result] = index && (type.pointer || !is_float(type.dtype));
      }
    }
  }

  /// Backward: all uses of a value are known when its definition is reached.
  void decide(const Block& block) {
    for (std::size_t i = block.ops.size(); i-- > 0;) {
      const Op& op = block.ops[i];
      const auto demand_all = [&](bool one_nest) {
        std::uint32_t root = next_root_++;
        for (const ValueId operand : op.operands) {
          demand(operand, {root, 0, &op, &block, i});
          if (!one_nest) root = next_root_++;
        }
      };
      switch (op.code) {
        case Opcode::store:
        case Opcode::reduce:
          demand_all(true);
          break;
        case Opcode::dot:
        case Opcode::yield:
          demand_all(false);
          break;
        case Opcode::fold:
        case Opcode::if_:
          for (const Block& region : op.regions) {
            for (const ValueId value : region.arguments) {
              if (!kernel_.type(value).is_scalar()) plan_.stored[value] = true;
            }
            decide(region);
          }
          demand_all(false);
          break;
        default:
          decide_inline(op, block, i);
          break;
      }
      if (op.code == Opcode::reduce || op.code == Opcode::dot || op.code == Opcode::fold ||
          op.code == Opcode::if_) {
        for (const ValueId value : op.results) {
          if (kernel_.type(value).is_scalar()) continue;
          plan_.stored[value] = true;
          plan_.only_yielded[value] = is_only_yielded(value);
        }
      }
    }
  }

  void decide_inline(const Op& op, const Block& block, std::size_t position) {
    if (op.results.size() != 1) return;
    const ValueId value = op.results.front();
    if (kernel_.type(value).is_scalar()) return;
    const std::set<Demand>& demands = demands_[value];
    if (demands.empty()) return;
    if (must_store(op, value, block, position)) {
      plan_.stored[value] = true;
      plan_.only_yielded[value] = is_only_yielded(value);
      const std::uint32_t root = next_root_++;
      for (const ValueId operand : op.operands) {
        demand(operand, {root, 0, &op, &block, position});
      }
      return;
    }
    const std::int64_t count = kernel_.type(value).count();
    for (Demand demanded : demands) {
      if (is_shape_op(op.code)) demanded.path = next_path(demanded.path, value);
      for (const ValueId operand : op.operands) {
        Demand passed = demanded;
        if (op.code == Opcode::broadcast && kernel_.type(operand).count() != count) {
          passed.grown = true;
        }
        if (op.code == Opcode::permute) passed.permuted = true;
        demand(operand, passed);
      }
    }
  }

  void demand(ValueId value, const Demand& demand) {
    if (kernel_.type(value).is_scalar()) return;
    demands_[value].insert(demand);
    // In terms of the block that defines the value.
    const Block* block = demand.block;
    std::size_t position = demand.position;
    while (block != place_[value].block) {
      const BlockPlace& place = blocks_.at(block);
      position = place.position;
      block = place.parent;
    }
    last_use_[value] = std::max(last_use_[value], position);
  }

  std::uint32_t next_path(std::uint32_t path, ValueId through) {
    const auto [entry, fresh] =
        paths_.try_emplace({path, through}, static_cast<std::uint32_t>(paths_.size() + 1));
    return entry->second;
  }

  bool must_store(const Op& op, ValueId value, const Block& block, std::size_t position) const {
    if (is_leaf(op.code)) return false;
    const std::set<Demand>& demands = demands_[value];
    const int cost = cost_[value];
    const bool dear = cost > (index_[value] ? cheap_index : cheap);
    if (op.code == Opcode::load) {
      if (demands.size() != 1) return true;
      const Demand& demand = *demands.begin();
      if (demand.block != &block || demand.grown || demand.permuted) return true;
      return !may_move(op, demand, position);
    }
    // A shape operation costs nothing by itself: what it reads decides for itself.
    if (is_shape_op(op.code)) return false;
    if (!dear) return false;
    if (demands.size() > 1) return true;
    const Demand& demand = *demands.begin();
    return demand.grown || repeats(demand.block, &block);
  }

  /// Whether `inner` is run several times for one run of `outer`.
  bool repeats(const Block* inner, const Block* outer) const {
    for (; inner != outer; inner = blocks_.at(inner).parent) {
      if (blocks_.at(inner).repeats) return true;
    }
    return false;
  }

  /// Whether a load may be made in the nest of its only use, in the same block.
  bool may_move(const Op& load, const Demand& use, std::size_t position) const {
    const std::vector<bool>& writes = writes_.at(use.block);
    for (std::size_t i = position + 1; i < use.position; ++i) {
      if (writes[i]) return false;
    }
    if (use.op->code != Opcode::store) return true;
    // The nest writes as it goes. What is read-only is written by nobody in this launch; else an
    // element must be read before anything is written to it.
    if (kernel_.type(load.operands[0]).read_only) return true;
    return use.path == 0 && load.operands[0] == use.op->operands[0] &&
           is_injective(load.operands[0]);
  }

  /// Whether a tile of pointers certainly has no address twice.
  bool is_injective(ValueId pointers) const {
    const Op* op = plan_.definition[pointers];
    if (op == nullptr || op->code != Opcode::offset) return false;
    return is_uniform(op->operands[0]) && is_ascending(op->operands[1]);
  }

  bool is_uniform(ValueId value) const {
    if (kernel_.type(value).is_scalar()) return true;
    const Op* op = plan_.definition[value];
    if (op == nullptr) return false;
    if (op->code == Opcode::constant) return true;
    return op->code == Opcode::broadcast && kernel_.type(op->operands[0]).is_scalar();
  }

  bool is_ascending(ValueId value) const {
    const Op* op = plan_.definition[value];
    if (op == nullptr) return false;
    if (op->code == Opcode::arange) return true;
    if (op->code == Opcode::cast) return is_ascending(op->operands[0]);
    if (op->code != Opcode::add) return false;
    return (is_uniform(op->operands[0]) && is_ascending(op->operands[1])) ||
           (is_ascending(op->operands[0]) && is_uniform(op->operands[1]));
  }

  bool is_only_yielded(ValueId value) const {
    const std::set<Demand>& demands = demands_[value];
    if (demands.size() != 1) return false;
    const Demand& demand = *demands.begin();
    return demand.op->code == Opcode::yield && demand.block == place_[value].block &&
           demand.path == 0;
  }

  const ir::Kernel& kernel_;
  Plan plan_;
  std::vector<int> cost_;
  std::vector<bool> index_;  ///< computed from leaves alone, as addresses and masks are
  std::vector<ValuePlace> place_;
  std::vector<std::size_t> last_use_;
  std::vector<std::set<Demand>> demands_;
  std::unordered_map<const Block*, BlockPlace> blocks_;
  std::unordered_map<const Block*, std::vector<bool>> writes_;
  std::map<std::pair<std::uint32_t, ValueId>, std::uint32_t> paths_;
  std::uint32_t next_root_ = 1;
};

}  // namespace

Plan make_plan(const ir::Kernel& kernel) { return Planner(kernel).run(); }

}  // namespace teeny::compiler::cpu
