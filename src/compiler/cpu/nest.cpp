#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include <llvm/IR/Constants.h>

#include "compiler/cpu/lowering.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::Shape;
using ir::ValueId;
using llvm::Value;

namespace {

constexpr int few_operations = 24;
constexpr int many_operations = 120;

bool is_zero(Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant != nullptr && constant->isZero();
}

int log2(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

}  // namespace

Value* Lowering::index(std::int64_t value) {
  return builder_.getInt64(static_cast<std::uint64_t>(value));
}

Value* Lowering::add_index(Value* left, Value* right) {
  if (is_zero(left)) return right;
  if (is_zero(right)) return left;
  return builder_.CreateNUWAdd(left, right);
}

Value* Lowering::scale_index(Value* value, std::int64_t factor) {
  if (factor == 1 || is_zero(value)) return value;
  return builder_.CreateNUWMul(value, index(factor));
}

void Lowering::loop(std::int64_t extent, std::int64_t step,
                    const std::function<void(Value*)>& body) {
  if (extent <= step) {
    body(index(0));
    return;
  }
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  i->addIncoming(index(0), before);
  body(i);
  Value* next = builder_.CreateNUWAdd(i, index(step));
  i->addIncoming(next, builder_.GetInsertBlock());
  auto* after = llvm::BasicBlock::Create(context, "", function_);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, index(extent)), head, after);
  builder_.SetInsertPoint(after);
}

PointRef Lowering::keep(Point point) {
  points_.push_back(std::make_shared<const Point>(std::move(point)));
  return points_.back();
}

void Lowering::nest(const Shape& shape, int lanes, const Body& body) {
  Point point;
  point.lanes = lanes;
  point.base.assign(shape.size(), index(0));
  point.step.assign(shape.size(), std::vector<std::int64_t>(static_cast<std::size_t>(lanes), 0));
  // How far the lanes reach along each dimension, the innermost first.
  std::vector<std::int64_t> reach(shape.size(), 1);
  std::int64_t covered = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    reach[d] = std::min<std::int64_t>(shape[d], lanes / covered);
    for (int lane = 0; lane < lanes; ++lane) {
      point.step[d][static_cast<std::size_t>(lane)] = lane / covered % reach[d];
    }
    covered *= reach[d];
  }
  const std::function<void(std::size_t)> descend = [&](std::size_t d) {
    if (d < shape.size()) {
      loop(shape[d], reach[d], [&](Value* i) {
        point.base[d] = i;
        descend(d + 1);
      });
      return;
    }
    // Straight-line code starts here: nothing computed elsewhere may be reused.
    auto memo = std::exchange(memo_, {});
    auto mapped = std::exchange(mapped_, {});
    body(keep(point));
    memo_ = std::move(memo);
    mapped_ = std::move(mapped);
  };
  descend(0);
}

void Lowering::nest_over(const Shape& shape, const std::vector<ValueId>& roots, int lanes,
                         const Body& body) {
  const std::vector<ValueId> open = candidates(roots);
  int operations = 0;
  for_each_tile(roots, [&](ValueId, const Op* op) { operations += op != nullptr ? 1 : 0; });
  // One version for when all is settled in the whole tile, and one that asks again at each vector;
  // for a large body, in which asking is lost, only that.
  versioned(operations <= many_operations ? settle(open, nullptr) : Settled{}, [&] {
    nest(shape, lanes, [&](const PointRef& point) {
      versioned(settle(open, point), [&] {
        body(point);
        return Values{};
      });
    });
    return Values{};
  });
}

int Lowering::lanes_for(const Shape& shape, const std::vector<ValueId>& roots) const {
  // As many lanes as fill a register with the widest elements that are computed; index arithmetic
  // does not count, most of it is done on scalars.
  std::int64_t widest = 0;
  int operations = 0;
  for_each_tile(roots, [&](ValueId value, const Op* op) {
    const ir::Type& type = kernel_.type(value);
    if (type.pointer) return;
    const bool is_root = std::find(roots.begin(), roots.end(), value) != roots.end();
    const bool data = is_float(type.dtype) || op == nullptr || op->code == Opcode::load ||
                      (is_root && type.dtype != DType::boolean);
    if (!data) return;
    widest = std::max<std::int64_t>(widest, size_of(type.dtype));
    if (op != nullptr && ir::is_elementwise(op->code)) ++operations;
  });
  if (widest == 0) widest = memory_bytes(kernel_.type(roots.front()));
  std::int64_t lanes = traits_.vector_bytes / widest;
  if (operations <= few_operations) lanes *= 2;  // two independent chains, while registers last
  return static_cast<int>(std::min({ir::element_count(shape), lanes, std::int64_t{64}}));
}

PointRef Lowering::reshaped(const PointRef& point, const Shape& from, const Shape& to) {
  Point result;
  result.lanes = point->lanes;
  result.base.assign(to.size(), index(0));
  const auto lanes = static_cast<std::size_t>(point->lanes);
  result.step.assign(to.size(), std::vector<std::int64_t>(lanes, 0));
  // From the innermost dimension out: the smallest groups of dimensions that hold the same
  // elements.
  std::size_t f = from.size();
  std::size_t t = to.size();
  while (f > 0 || t > 0) {
    const std::size_t from_end = f;
    const std::size_t to_end = t;
    std::int64_t from_count = f > 0 ? from[--f] : 1;
    std::int64_t to_count = t > 0 ? to[--t] : 1;
    while (from_count != to_count) {
      if (from_count < to_count) {
        from_count *= from[--f];
      } else {
        to_count *= to[--t];
      }
    }
    Value* base = index(0);
    std::vector<std::int64_t> step(lanes, 0);
    std::int64_t stride = 1;
    for (std::size_t d = from_end; d-- > f;) {
      base = add_index(base, scale_index(point->base[d], stride));
      for (std::size_t lane = 0; lane < lanes; ++lane) step[lane] += point->step[d][lane] * stride;
      stride *= from[d];
    }
    stride = 1;
    for (std::size_t d = to_end; d-- > t;) {
      const std::int64_t extent = to[d];
      if (extent == 1) continue;
      Value* part = base;
      if (stride != 1) part = builder_.CreateLShr(part, index(log2(stride)));
      if (stride * extent != to_count) part = builder_.CreateAnd(part, index(extent - 1));
      result.base[d] = part;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        result.step[d][lane] = step[lane] / stride % extent;
      }
      stride *= extent;
    }
  }
  return keep(std::move(result));
}

PointRef Lowering::map_point(const Op& op, const PointRef& point) {
  const auto known = mapped_.find({&op, point.get()});
  if (known != mapped_.end()) return known->second;
  const Shape& from = kernel_.type(op.results.front()).shape;
  const Shape& to = kernel_.type(op.operands.front()).shape;
  PointRef result;
  if (op.code == Opcode::reshape) {
    result = reshaped(point, from, to);
  } else {
    Point mapped = *point;
    if (op.code == Opcode::permute) {
      for (std::size_t d = 0; d < from.size(); ++d) {
        const auto operand = static_cast<std::size_t>(op.dims[d]);
        mapped.base[operand] = point->base[d];
        mapped.step[operand] = point->step[d];
      }
    } else {  // broadcast along extents of 1
      for (std::size_t d = 0; d < to.size(); ++d) {
        if (to[d] != 1) continue;
        mapped.base[d] = index(0);
        std::fill(mapped.step[d].begin(), mapped.step[d].end(), 0);
      }
    }
    result = keep(std::move(mapped));
  }
  // Where all lanes fall on one element, one lane is enough.
  const auto still = [](const std::vector<std::int64_t>& steps) {
    return std::all_of(steps.begin(), steps.end(), [&](std::int64_t s) { return s == steps[0]; });
  };
  if (result->lanes > 1 && std::all_of(result->step.begin(), result->step.end(), still)) {
    Point single = *result;
    single.lanes = 1;
    for (std::size_t d = 0; d < single.step.size(); ++d) {
      single.base[d] = add_index(single.base[d], index(single.step[d][0]));
      single.step[d] = {0};
    }
    result = keep(std::move(single));
  }
  mapped_[{&op, point.get()}] = result;
  return result;
}

}  // namespace teeny::compiler::cpu
