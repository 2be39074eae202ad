#include <algorithm>
#include <numeric>

#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::ValueId;
using llvm::Value;

namespace {

// Several vectors are folded side by side, so that one operation need not wait for the one before.
constexpr int chains = 4;

}  // namespace

bool Lowering::is_straight(const ir::Block& region) {
  return std::all_of(region.ops.begin(), region.ops.end(), [](const Op& op) {
    return ir::is_elementwise(op.code) || op.code == Opcode::constant || op.code == Opcode::yield ||
           op.code == Opcode::program_id || op.code == Opcode::num_programs;
  });
}

Lowering::Values Lowering::evaluate_values(const Op& op, const PointRef& point) {
  Values values;
  for (const ValueId operand : op.operands) {
    values.push_back(as_vector(evaluate(operand, point), kernel_.type(operand), point->lanes));
  }
  return values;
}

/// The operands' elements in one form, whatever was known of them: they become phis.
std::vector<Lanes> Lowering::evaluate_operands(const Op& op, const PointRef& point) {
  const Values values =
      versioned(settle(candidates(op.operands), point), [&] { return evaluate_values(op, point); });
  std::vector<Lanes> elements(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    (point->lanes == 1 ? elements[k].uniform : elements[k].vector) = values[k];
  }
  return elements;
}

std::vector<Lanes> Lowering::combine(const Op& op, const std::vector<Lanes>& left,
                                     const std::vector<Lanes>& right, int lanes) {
  const ir::Block& region = op.regions.front();
  const auto argument = [&](std::size_t i) {
    return i < left.size() ? left[i] : right[i - left.size()];
  };
  const Op& yield = region.ops.back();
  std::vector<Lanes> results;
  if (!is_straight(region)) {
    for (std::size_t i = 0; i < region.arguments.size(); ++i) {
      scalars_[region.arguments[i]] = argument(i).uniform;
    }
    emit_block(region);
    for (const ValueId value : yield.operands) results.push_back(scalar(value));
    return results;
  }
  for (std::size_t i = 0; i < region.arguments.size(); ++i) {
    region_[region.arguments[i]] = argument(i);
  }
  for (const Op& each : region.ops) {
    if (each.code == Opcode::yield) break;
    const ValueId value = each.results.front();
    if (!ir::is_elementwise(each.code)) {
      emit_scalar(each);
      continue;
    }
    std::vector<Lanes> operands;
    for (const ValueId operand : each.operands) operands.push_back(scalar(operand));
    region_[value] = elementwise(each, operands, lanes);
  }
  for (std::size_t i = 0; i < yield.operands.size(); ++i) {
    Lanes result;
    Value* held = as_vector(scalar(yield.operands[i]), kernel_.type(yield.operands[i]), lanes);
    (lanes == 1 ? result.uniform : result.vector) = held;
    results.push_back(result);
  }
  region_.clear();
  return results;
}

std::vector<Lanes> Lowering::combine_over(const Op& op, const Point& first, int axis,
                                          std::int64_t step) {
  const auto dimension = static_cast<std::size_t>(axis);
  const int lanes = first.lanes;
  const std::int64_t extent = kernel_.type(op.operands.front()).shape[dimension];
  std::vector<Lanes> total = evaluate_operands(op, keep(first));
  if (extent <= step) return total;
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  i->addIncoming(index(step), before);
  std::vector<llvm::PHINode*> phis;
  std::vector<Lanes> so_far;
  for (const Lanes& element : total) {
    Value* held = lanes == 1 ? element.uniform : element.vector;
    phis.push_back(builder_.CreatePHI(held->getType(), 2));
    phis.back()->addIncoming(held, before);
    Lanes phi;
    (lanes == 1 ? phi.uniform : phi.vector) = phis.back();
    so_far.push_back(phi);
  }
  // What is computed inside the loop must not be reused after it.
  const auto memo = memo_;
  const auto mapped = mapped_;
  Point point = first;
  point.base[dimension] = i;
  total = combine(op, so_far, evaluate_operands(op, keep(std::move(point))), lanes);
  memo_ = memo;
  mapped_ = mapped;
  Value* next = builder_.CreateNUWAdd(i, index(step));
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  i->addIncoming(next, latch);
  for (std::size_t k = 0; k < phis.size(); ++k) {
    phis[k]->addIncoming(lanes == 1 ? total[k].uniform : total[k].vector, latch);
  }
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, index(extent)), head, after);
  builder_.SetInsertPoint(after);
  return total;
}

Lowering::Values Lowering::reduce_along(const Op& op, const Point& outer, int axis) {
  const auto dimension = static_cast<std::size_t>(axis);
  const std::int64_t extent = kernel_.type(op.operands.front()).shape[dimension];
  int lanes = 1;
  if (is_straight(op.regions.front())) {
    std::int64_t widest = 1;
    for (const ValueId operand : op.operands) {
      widest = std::max<std::int64_t>(widest, size_of(kernel_.type(operand).dtype));
    }
    lanes = static_cast<int>(
        std::min({extent, chains * traits_.vector_bytes / widest, std::int64_t{64}}));
  }
  Point first = outer;
  first.lanes = lanes;
  for (auto& step : first.step) step.assign(static_cast<std::size_t>(lanes), 0);
  std::iota(first.step[dimension].begin(), first.step[dimension].end(), 0);
  std::vector<Lanes> total = combine_over(op, first, axis, lanes);
  while (lanes > 1) {  // fold the upper half onto the lower one
    lanes /= 2;
    std::vector<Lanes> low(total.size());
    std::vector<Lanes> high(total.size());
    for (std::size_t k = 0; k < total.size(); ++k) {
      if (lanes == 1) {
        low[k].uniform = builder_.CreateExtractElement(total[k].vector, std::uint64_t{0});
        high[k].uniform = builder_.CreateExtractElement(total[k].vector, std::uint64_t{1});
        continue;
      }
      std::vector<int> picks(static_cast<std::size_t>(lanes));
      std::iota(picks.begin(), picks.end(), 0);
      low[k].vector = builder_.CreateShuffleVector(total[k].vector, picks);
      std::iota(picks.begin(), picks.end(), lanes);
      high[k].vector = builder_.CreateShuffleVector(total[k].vector, picks);
    }
    total = combine(op, low, high, lanes);
  }
  Values results;
  for (const Lanes& element : total) results.push_back(element.uniform);
  return results;
}

void Lowering::emit_reduce(const Op& op) {
  const ir::Shape& shape = kernel_.type(op.operands.front()).shape;
  const int axis = static_cast<int>(op.index);
  const bool innermost = std::all_of(shape.begin() + axis + 1, shape.end(),
                                     [](std::int64_t extent) { return extent == 1; });
  const Settled whole = settle(candidates(op.operands), nullptr);
  if (shape.size() == 1) {
    Point outer;
    outer.base = {index(0)};
    outer.step.resize(1);
    const auto memo = std::exchange(memo_, {});
    const auto mapped = std::exchange(mapped_, {});
    const Values results = versioned(whole, [&] { return reduce_along(op, outer, axis); });
    memo_ = memo;
    mapped_ = mapped;
    for (std::size_t k = 0; k < results.size(); ++k) scalars_[op.results[k]] = results[k];
    return;
  }
  std::vector<Buffer> results;
  for (const ValueId value : op.results) {
    bind(value, kernel_.type(value));
    results.push_back(buffers_[value]);
  }
  const ir::Shape& outer_shape = kernel_.type(op.results.front()).shape;
  const bool straight = is_straight(op.regions.front());
  const int lanes = innermost || !straight ? 1 : lanes_for(outer_shape, op.operands);
  versioned(whole, [&] {
    nest(outer_shape, lanes, [&](const PointRef& point) {
      Point outer = *point;
      outer.base.insert(outer.base.begin() + axis, index(0));
      outer.step.insert(outer.step.begin() + axis,
                        std::vector<std::int64_t>(static_cast<std::size_t>(lanes), 0));
      std::vector<Lanes> elements;
      if (innermost) {
        for (Value* value : reduce_along(op, outer, axis)) {
          elements.emplace_back().uniform = value;
        }
      } else {
        elements = combine_over(op, outer, axis, 1);
      }
      for (std::size_t k = 0; k < elements.size(); ++k) write(results[k], point, elements[k]);
    });
    return Values{};
  });
}

}  // namespace teeny::compiler::cpu
