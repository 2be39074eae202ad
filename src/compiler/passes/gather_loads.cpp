#include "compiler/passes/gather_loads.hpp"

#include <algorithm>
#include <unordered_map>

namespace teeny::compiler {
namespace {

using ir::Block;
using ir::Kernel;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

/// Registers of 32 bits that the loads of one thread may take.
constexpr std::int64_t max_words = 32;

std::int64_t words_of(const Kernel& kernel, const Op& load) {
  const ir::Type& type = kernel.type(load.results[0]);
  const std::int64_t threads = 32 * kernel.options.num_warps;
  const std::int64_t elements = std::max<std::int64_t>(1, type.count() / threads);
  return std::max<std::int64_t>(1, elements * size_of(type.dtype) / 4);
}

/// What may change places with a load that does not depend on it.
bool moves_freely(const Op& op) {
  switch (op.code) {
    case Opcode::constant:
    case Opcode::program_id:
    case Opcode::num_programs:
    case Opcode::arange:
    case Opcode::reshape:
    case Opcode::broadcast:
    case Opcode::permute:
    case Opcode::load:
      return true;
    default:
      return ir::is_elementwise(op.code);
  }
}

class Gatherer {
 public:
  explicit Gatherer(const Kernel& kernel) : kernel_(kernel) {}

  void gather(Block& block) {
    for (Op& op : block.ops) {
      for (Block& region : op.regions) Gatherer(kernel_).gather(region);
    }
    for (Op& op : block.ops) add(op);
    flush();
    block.ops = std::move(done_);
  }

 private:
  struct Placed {
    int level;
    Op op;
  };

  void add(Op& op) {
    if (!moves_freely(op)) {
      flush();
      done_.push_back(std::move(op));
      return;
    }
    const bool load = op.code == Opcode::load;
    if (load) {
      const std::int64_t words = words_of(kernel_, op);
      if (words_ + words > max_words) flush();
      words_ += words;
    }
    // Even levels compute, odd ones load.
    int level = 0;
    for (const ValueId operand : op.operands) {
      const auto known = levels_.find(operand);
      if (known != levels_.end()) level = std::max(level, known->second);
    }
    for (const ValueId result : op.results) levels_[result] = load ? level + 2 : level;
    open_.push_back({load ? level + 1 : level, std::move(op)});
  }

  void flush() {
    std::stable_sort(open_.begin(), open_.end(),
                     [](const Placed& a, const Placed& b) { return a.level < b.level; });
    for (Placed& one : open_) done_.push_back(std::move(one.op));
    open_.clear();
    levels_.clear();
    words_ = 0;
  }

  const Kernel& kernel_;
  std::vector<Op> done_;
  std::vector<Placed> open_;  ///< what may still be put into another order
  std::unordered_map<ValueId, int> levels_;
  std::int64_t words_ = 0;
};

}  // namespace

Kernel gather_loads(const Kernel& kernel) {
  Kernel result = kernel;
  Gatherer(kernel).gather(result.body);
  return result;
}

std::size_t gathered_loads(const Kernel& kernel, const Block& block, std::size_t first) {
  std::vector<ValueId> loaded;
  std::int64_t words = 0;
  std::size_t end = first;
  for (; end < block.ops.size(); ++end) {
    const Op& op = block.ops[end];
    if (op.code != Opcode::load) break;
    const bool waits = std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId operand) {
      return std::find(loaded.begin(), loaded.end(), operand) != loaded.end();
    });
    words += words_of(kernel, op);
    if (end > first && (waits || words > max_words)) break;
    loaded.push_back(op.results[0]);
  }
  return end - first;
}

}  // namespace teeny::compiler
