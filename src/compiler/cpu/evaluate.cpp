#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "compiler/cpu/lowering.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::cpu {

using ir::Op;
using ir::Opcode;
using ir::ValueId;
using llvm::Value;

namespace {

bool is_index_type(const ir::Type& type) {
  return !type.pointer && (type.dtype == DType::i32 || type.dtype == DType::i64);
}

llvm::Constant* constant_steps(llvm::Type* element, const std::vector<std::int64_t>& steps) {
  std::vector<llvm::Constant*> constants;
  for (const std::int64_t step : steps) {
    constants.push_back(llvm::ConstantInt::get(element, static_cast<std::uint64_t>(step), true));
  }
  return llvm::ConstantVector::get(constants);
}

}  // namespace

Lanes Lowering::scalar(ValueId value) {
  const auto inner = region_.find(value);
  if (inner != region_.end()) return inner->second;
  Lanes lanes;
  lanes.uniform = scalars_[value];
  return lanes;
}

Lanes Lowering::evaluate(ValueId value, const PointRef& point) {
  if (kernel_.type(value).is_scalar()) return scalar(value);
  if (is_settled(value)) {
    if (kernel_.type(value).dtype == DType::boolean) {
      Lanes lanes;
      lanes.uniform = builder_.getTrue();
      return lanes;
    }
    // A clamp: the operand that is a bound lies outside the interval of the other.
    return evaluate(clamped_operand(*plan_.definition[value]), point);
  }
  const auto known = memo_.find({value, point.get()});
  if (known != memo_.end()) return known->second;
  const auto stored = buffers_.find(value);
  Lanes lanes = stored != buffers_.end() ? read(stored->second, point) : compute(value, point);
  memo_[{value, point.get()}] = lanes;
  return lanes;
}

Lanes Lowering::compute(ValueId value, const PointRef& point) {
  const Op* op = plan_.definition[value];
  if (op == nullptr || !op->regions.empty()) {
    throw Error(ErrorKind::internal,
                "a tile of kernel " + kernel_.name + " is read where it is not stored");
  }
  switch (op->code) {
    case Opcode::constant: {
      Lanes lanes;
      lanes.uniform = constant(module_.getContext(), kernel_.type(value).dtype, op->bits);
      return lanes;
    }
    case Opcode::arange: {
      Lanes lanes;
      Value* start = add_index(point->base[0], index(op->index));
      llvm::Type* type = register_type(module_.getContext(), kernel_.type(value));
      Value* first = builder_.CreateTrunc(start, type);
      if (point->lanes == 1) {
        lanes.uniform = first;
        return lanes;
      }
      lanes.start = start;
      lanes.steps = point->step[0];
      lanes.vector =
          builder_.CreateAdd(builder_.CreateVectorSplat(static_cast<unsigned>(point->lanes), first),
                             constant_steps(type, lanes.steps));
      return lanes;
    }
    case Opcode::broadcast:
      if (kernel_.type(op->operands[0]).is_scalar()) return scalar(op->operands[0]);
      return evaluate(op->operands[0], map_point(*op, point));
    case Opcode::reshape:
      if (kernel_.type(op->operands[0]).is_scalar()) return scalar(op->operands[0]);
      return evaluate(op->operands[0], map_point(*op, point));
    case Opcode::permute:
      return evaluate(op->operands[0], map_point(*op, point));
    case Opcode::load:
      return load(*op, point);
    default:
      break;
  }
  std::vector<Lanes> operands;
  for (const ValueId operand : op->operands) operands.push_back(evaluate(operand, point));
  if (op->code == Opcode::offset) return offset(*op, operands[0], operands[1], point->lanes);
  return elementwise(*op, operands, point->lanes);
}

Value* Lowering::as_vector(const Lanes& value, const ir::Type& type, int lanes) {
  if (lanes == 1) return value.uniform;
  if (type.pointer) return pointer_vector(value, type, lanes);
  if (value.vector != nullptr) return value.vector;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value.uniform);
}

Value* Lowering::pointer_vector(const Lanes& value, const ir::Type& type, int lanes) {
  if (value.uniform != nullptr) {
    return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value.uniform);
  }
  if (value.pointer == nullptr) return value.vector;
  llvm::Type* element = memory_type(module_.getContext(), ir::Type::scalar(type.dtype));
  return builder_.CreateGEP(element, value.pointer, value.vector);
}

Lanes Lowering::elementwise(const Op& op, const std::vector<Lanes>& operands, int lanes) {
  const bool uniform = std::all_of(operands.begin(), operands.end(),
                                   [](const Lanes& o) { return o.uniform != nullptr; });
  std::vector<ir::Type> types;
  Values values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    types.push_back(kernel_.type(op.operands[i]));
    values.push_back(uniform ? operands[i].uniform : as_vector(operands[i], types[i], lanes));
  }
  const ir::Type& type = kernel_.type(op.results.front());
  Lanes result;
  Value* value = emit_elementwise(builder_, op, types, type, values);
  (uniform ? result.uniform : result.vector) = value;
  if (!uniform && is_index_type(type)) note_arithmetic(op, operands, result);
  return result;
}

void Lowering::note_arithmetic(const Op& op, const std::vector<Lanes>& operands, Lanes& result) {
  if (!is_index_type(kernel_.type(op.operands[0]))) return;
  const auto start_of = [&](const Lanes& value) -> Value* {
    if (value.uniform == nullptr) return value.start;
    return builder_.CreateSExt(value.uniform, builder_.getInt64Ty());
  };
  const auto step_of = [](const Lanes& value, std::size_t lane) {
    return value.steps.empty() ? 0 : value.steps[lane];
  };
  const std::size_t lanes = std::max(operands[0].steps.size(), operands.back().steps.size());
  const auto known = [](const Lanes& value) {
    return value.uniform != nullptr || value.start != nullptr;
  };
  if (lanes == 0 || !std::all_of(operands.begin(), operands.end(), known)) return;
  switch (op.code) {
    case Opcode::cast:  // to more bits
      if (kernel_.type(op.results[0]).dtype != DType::i64) return;
      result.start = operands[0].start;
      result.steps = operands[0].steps;
      return;
    case Opcode::add:
    case Opcode::sub: {
      const bool add = op.code == Opcode::add;
      Value* left = start_of(operands[0]);
      Value* right = start_of(operands[1]);
      result.start = add ? builder_.CreateAdd(left, right) : builder_.CreateSub(left, right);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::int64_t step = step_of(operands[1], lane);
        result.steps.push_back(step_of(operands[0], lane) + (add ? step : -step));
      }
      return;
    }
    case Opcode::mul: {
      const std::size_t tile = operands[0].uniform == nullptr ? 0 : 1;
      const auto* factor = llvm::dyn_cast_or_null<llvm::ConstantInt>(operands[1 - tile].uniform);
      if (factor == nullptr) return;
      result.start = builder_.CreateMul(operands[tile].start, start_of(operands[1 - tile]));
      for (const std::int64_t step : operands[tile].steps) {
        result.steps.push_back(step * factor->getSExtValue());
      }
      return;
    }
    default:
      return;
  }
}

Lanes Lowering::offset(const Op& op, const Lanes& pointer, const Lanes& elements, int lanes) {
  const ir::Type& type = kernel_.type(op.results.front());
  llvm::Type* element = memory_type(module_.getContext(), ir::Type::scalar(type.dtype));
  llvm::Type* wide = builder_.getInt64Ty();
  const auto widened = [&](Value* value) {
    return builder_.CreateSExt(value,
                               value->getType()->isVectorTy() ? with_lanes(wide, lanes) : wide);
  };
  Lanes result;
  if (pointer.uniform != nullptr && elements.uniform != nullptr) {
    result.uniform = builder_.CreateGEP(element, pointer.uniform, widened(elements.uniform));
    return result;
  }
  Value* offsets = widened(as_vector(elements, kernel_.type(op.operands[1]), lanes));
  if (pointer.uniform != nullptr) {
    result.pointer = pointer.uniform;
    result.vector = offsets;
    result.start = elements.start;
    result.steps = elements.steps;
    return result;
  }
  if (pointer.pointer == nullptr) {
    result.vector = builder_.CreateGEP(element, pointer.vector, offsets);
    return result;
  }
  result.pointer = pointer.pointer;
  result.vector = builder_.CreateAdd(pointer.vector, offsets);
  const bool uniform = elements.uniform != nullptr;
  if (pointer.start != nullptr && (uniform || elements.start != nullptr)) {
    result.start =
        builder_.CreateAdd(pointer.start, uniform ? widened(elements.uniform) : elements.start);
    result.steps = pointer.steps;
    if (!uniform) {
      for (std::size_t lane = 0; lane < result.steps.size(); ++lane) {
        result.steps[lane] += elements.steps[lane];
      }
    }
  }
  return result;
}

}  // namespace teeny::compiler::cpu
