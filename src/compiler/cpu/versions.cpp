#include <algorithm>

#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

// Masks are mostly comparisons of an index that runs over an interval with a bound, and true
// everywhere but at the edges of the data; clamps of an index change nothing but there. Whether
// they are of no effect is asked of a few scalars, for a whole tile and then for single vectors,
// and code without them is made for where they are.

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::ValueId;
using llvm::Value;

/// Calls `visit` once for each tile that evaluating `roots` computes or reads, with the operation
/// that computes it there; null for one that is read.
void Lowering::for_each_tile(const std::vector<ValueId>& roots, const Visit& visit) const {
  std::set<ValueId> seen;
  const std::function<void(ValueId)> descend = [&](ValueId value) {
    if (kernel_.type(value).is_scalar() || !seen.insert(value).second) return;
    const Op* op = buffers_.count(value) == 0 ? plan_.definition[value] : nullptr;
    visit(value, op);
    if (op == nullptr) return;
    for (const ValueId operand : op->operands) descend(operand);
  };
  for (const ValueId root : roots) descend(root);
}

/// Masks of the loads and stores, and clamps of indices, that evaluating `roots` would meet.
/// `roots` may be the operands of a store.
std::vector<ValueId> Lowering::candidates(const std::vector<ValueId>& roots) const {
  std::vector<ValueId> found;
  if (roots.size() == 3 && kernel_.type(roots[0]).pointer) found.push_back(roots[2]);
  for_each_tile(roots, [&](ValueId value, const Op* op) {
    if (op == nullptr) return;
    const ir::Type& type = kernel_.type(value);
    const bool index = !type.pointer && (type.dtype == DType::i32 || type.dtype == DType::i64);
    if (index && (op->code == Opcode::minimum || op->code == Opcode::maximum)) {
      found.push_back(value);
    }
    if (op->code == Opcode::load && op->operands.size() > 1) found.push_back(op->operands[1]);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Lowering::Settled Lowering::settle(const std::vector<ValueId>& candidates, const PointRef& point) {
  Settled settled;
  // A single lane is branched over anyway.
  if (point != nullptr && point->lanes == 1) return settled;
  for (const ValueId value : candidates) {
    if (is_settled(value)) continue;
    std::optional<Value*> condition;
    if (kernel_.type(value).dtype == DType::boolean) {
      Value* always = always_true(value, point);
      if (always != nullptr) condition = always;
    } else {
      condition = never_clamps(value, point);
    }
    if (!condition) continue;
    settled.values.push_back(value);
    if (settled.condition == nullptr) {
      settled.condition = *condition;
    } else if (*condition != nullptr) {
      settled.condition = builder_.CreateAnd(settled.condition, *condition);
    }
  }
  return settled;
}

Lowering::Values Lowering::versioned(const Settled& settled, const std::function<Values()>& body) {
  const auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(settled.condition);
  if (settled.values.empty() || (constant != nullptr && constant->isZero())) return body();
  // What is computed in one version must not be reused in the other, nor after them.
  const auto run = [&](bool is_settled) {
    const auto memo = memo_;
    const auto mapped = mapped_;
    const auto outer = settled_;
    if (is_settled) settled_.insert(settled.values.begin(), settled.values.end());
    Values values = body();
    settled_ = outer;
    memo_ = memo;
    mapped_ = mapped;
    return values;
  };
  if (settled.condition == nullptr || constant != nullptr) return run(true);
  llvm::LLVMContext& context = module_.getContext();
  auto* smooth = llvm::BasicBlock::Create(context, "", function_);
  auto* careful = llvm::BasicBlock::Create(context, "", function_);
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(settled.condition, smooth, careful);
  builder_.SetInsertPoint(smooth);
  const Values first = run(true);
  smooth = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(careful);
  const Values second = run(false);
  careful = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  Values results;
  for (std::size_t i = 0; i < first.size(); ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(first[i]->getType(), 2);
    phi->addIncoming(first[i], smooth);
    phi->addIncoming(second[i], careful);
    results.push_back(phi);
  }
  return results;
}

}  // namespace teeny::compiler::cpu
