#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes/evaluate.hpp"
#include "compiler/passes/passes.hpp"

#include "teeny/ir/verify.hpp"

namespace teeny::compiler {
namespace {

using ir::Block;
using ir::Kernel;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::ValueId;

bool is_pure(const Op& op) {
  return op.code != Opcode::yield && !ir::reads_memory(op) && !ir::writes_memory(op) &&
         op.code != Opcode::load && op.code != Opcode::load_view;
}

/// Forward over the kernel: folds constants, applies identities that are exact in every bit, and
/// replaces an operation by an equal one that dominates it.
class Simplifier {
 public:
  explicit Simplifier(Kernel& kernel)
      : kernel_(kernel), replacement_(kernel.values.size()), constant_(kernel.values.size()) {
    for (std::size_t i = 0; i < replacement_.size(); ++i) replacement_[i] = static_cast<ValueId>(i);
  }

  void run() { block(kernel_.body); }

 private:
  using Known = std::unordered_map<std::string, std::vector<ValueId>>;

  void block(Block& block) {
    scopes_.emplace_back();
    std::vector<Op> kept;
    kept.reserve(block.ops.size());
    for (Op& op : block.ops) {
      for (ValueId& operand : op.operands) operand = replacement_[operand];
      if (std::optional<ValueId> same = identity(op)) {
        replacement_[op.results[0]] = *same;
        continue;
      }
      fold_constant(op);
      if (op.code == Opcode::constant) constant_[op.results[0]] = op.bits;
      if (op.regions.empty()) {
        if (known(op)) continue;
      } else {
        regions(op);
      }
      if (ir::writes_memory(op)) memory_ = ++epochs_;
      kept.push_back(std::move(op));
    }
    block.ops = std::move(kept);
    scopes_.pop_back();
  }

  /// Loads inside a region that writes see what an earlier iteration wrote: they start a new epoch,
  /// and each of an if's regions starts from the same one.
  void regions(Op& op) {
    const bool writes = ir::writes_memory(op);
    for (Block& region : op.regions) {
      if (writes) memory_ = ++epochs_;
      block(region);
    }
  }

  [[nodiscard]] const Type& type(ValueId value) const { return kernel_.values[value]; }
  [[nodiscard]] bool is_constant(ValueId value) const {
    return constant_[value].has_value() && !type(value).pointer;
  }
  [[nodiscard]] bool is(ValueId value, double number) const {
    return is_constant(value) && *constant_[value] == encode(type(value).dtype, number);
  }

  /// The operand that `op` always equals.
  [[nodiscard]] std::optional<ValueId> identity(const Op& op) const {
    const auto operand = [&](std::size_t i) { return op.operands[i]; };
    switch (op.code) {
      case Opcode::cast:
      case Opcode::bitcast:
      case Opcode::reshape:
      case Opcode::broadcast:
        if (type(op.results[0]) == type(operand(0))) return operand(0);
        return std::nullopt;
      case Opcode::add:
        // -0 + 0 is +0: not an identity of floats.
        if (is_float(type(operand(0)).dtype)) return std::nullopt;
        if (is(operand(1), 0)) return operand(0);
        if (is(operand(0), 0)) return operand(1);
        return std::nullopt;
      case Opcode::sub:
      case Opcode::shl:
      case Opcode::shr:
        if (is(operand(1), 0)) return operand(0);
        return std::nullopt;
      case Opcode::mul:
        if (is(operand(1), 1)) return operand(0);
        if (is(operand(0), 1)) return operand(1);
        if (is_float(type(operand(0)).dtype)) return std::nullopt;
        if (is(operand(1), 0)) return operand(1);
        if (is(operand(0), 0)) return operand(0);
        return std::nullopt;
      case Opcode::div:
        if (is(operand(1), 1)) return operand(0);
        return std::nullopt;
      case Opcode::bit_and:
        return absorb(operand(0), operand(1));
      case Opcode::bit_or:
        if (is(operand(1), 0)) return operand(0);
        if (is(operand(0), 0)) return operand(1);
        if (operand(0) == operand(1)) return operand(0);
        return std::nullopt;
      case Opcode::minimum:
      case Opcode::maximum:
        if (operand(0) == operand(1)) return operand(0);
        return std::nullopt;
      case Opcode::select:
        if (operand(1) == operand(2)) return operand(1);
        if (is_constant(operand(0))) return *constant_[operand(0)] != 0 ? operand(1) : operand(2);
        return std::nullopt;
      case Opcode::offset:
        if (is(operand(1), 0)) return operand(0);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<ValueId> absorb(ValueId a, ValueId b) const {
    if (a == b) return a;
    const std::uint64_t ones =
        type(a).dtype == DType::boolean ? 1 : encode(type(a).dtype, static_cast<u64>(~u64{0}));
    for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!is_constant(one)) continue;
      if (*constant_[one] == ones) return other;
      if (*constant_[one] == 0) return one;
    }
    return std::nullopt;
  }

  void fold_constant(Op& op) const {
    if (op.operands.empty() || op.results.size() != 1) return;
    if (op.code == Opcode::reshape || op.code == Opcode::broadcast || op.code == Opcode::permute) {
      if (is_constant(op.operands[0])) become_constant(op, *constant_[op.operands[0]]);
      return;
    }
    if (!ir::is_elementwise(op.code) || op.code == Opcode::offset) return;
    std::vector<std::uint64_t> bits;
    for (const ValueId operand : op.operands) {
      if (!is_constant(operand)) return;
      bits.push_back(*constant_[operand]);
    }
    const DType from = type(op.operands.back()).dtype;
    if (const auto value = evaluate(op, from, type(op.results[0]).dtype, bits))
      become_constant(op, *value);
  }

  static void become_constant(Op& op, std::uint64_t bits) {
    Op constant;
    constant.code = Opcode::constant;
    constant.results = op.results;
    constant.bits = bits;
    op = std::move(constant);
  }

  /// Replaces `op` by an equal one seen in this or an enclosing block.
  bool known(const Op& op) {
    const bool load = op.code == Opcode::load || op.code == Opcode::load_view;
    if (op.results.empty() || (!load && !is_pure(op))) return false;
    std::string key;
    const auto put = [&key](std::uint64_t number) {
      key.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    put(static_cast<std::uint64_t>(op.code));
    put(op.bits);
    put(static_cast<std::uint64_t>(op.index));
    put(static_cast<std::uint64_t>(op.predicate));
    put(static_cast<std::uint64_t>(op.cache));
    put(static_cast<std::uint64_t>(op.precision));
    if (load) put(memory_);
    put(op.operands.size());
    for (const ValueId operand : op.operands) put(operand);
    for (const int dim : op.dims) put(static_cast<std::uint64_t>(dim));
    for (const ValueId result : op.results) key += ir::to_string(type(result)) + ";";
    for (const Known& scope : scopes_) {
      if (const auto found = scope.find(key); found != scope.end()) {
        for (std::size_t i = 0; i < op.results.size(); ++i)
          replacement_[op.results[i]] = found->second[i];
        return true;
      }
    }
    scopes_.back().emplace(std::move(key), op.results);
    return false;
  }

  Kernel& kernel_;
  std::vector<ValueId> replacement_;
  std::vector<std::optional<std::uint64_t>> constant_;
  std::vector<Known> scopes_;
  std::uint64_t memory_ = 0;
  std::uint64_t epochs_ = 0;
};

/// Moves pure operations whose operands are all defined outside a fold in front of it. They are
/// total functions, so that a fold of no iterations loses nothing but their time.
void hoist(Block& block) {
  std::vector<Op> result;
  result.reserve(block.ops.size());
  for (Op& op : block.ops) {
    for (Block& region : op.regions) hoist(region);
    if (op.code == Opcode::fold) {
      Block& body = op.regions[0];
      std::unordered_set<ValueId> inside(body.arguments.begin(), body.arguments.end());
      std::vector<Op> stays;
      for (Op& inner : body.ops) {
        const bool free = std::none_of(inner.operands.begin(), inner.operands.end(),
                                       [&](ValueId v) { return inside.contains(v); });
        if (free && inner.regions.empty() && is_pure(inner)) {
          result.push_back(std::move(inner));
        } else {
          inside.insert(inner.results.begin(), inner.results.end());
          stays.push_back(std::move(inner));
        }
      }
      body.ops = std::move(stays);
    }
    result.push_back(std::move(op));
  }
  block.ops = std::move(result);
}

/// Drops operations that no effect depends on, last to first.
void sweep(Block& block, std::unordered_set<ValueId>& live) {
  std::vector<Op> kept;
  for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
    const bool used = std::any_of(op->results.begin(), op->results.end(),
                                  [&](ValueId v) { return live.contains(v); });
    if (!used && op->code != Opcode::yield && !ir::writes_memory(*op)) continue;
    for (Block& region : op->regions) sweep(region, live);
    live.insert(op->operands.begin(), op->operands.end());
    kept.push_back(std::move(*op));
  }
  std::reverse(kept.begin(), kept.end());
  block.ops = std::move(kept);
}

}  // namespace

ir::Kernel canonicalise(const ir::Kernel& kernel) {
  Kernel result = kernel;
  Simplifier(result).run();
  hoist(result.body);
  // What was moved out of two folds may now be equal.
  Simplifier(result).run();
  std::unordered_set<ValueId> live;
  sweep(result.body, live);
  ir::verify(result);
  return result;
}

}  // namespace teeny::compiler
