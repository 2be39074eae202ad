#include "compiler/cpu/elementwise.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include "compiler/cpu/conversion.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::cpu {

using ir::Opcode;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

llvm::Type* with_lanes(llvm::Type* element, int lanes) {
  if (lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

namespace {

Value* high_product(Builder& builder, Value* left, Value* right) {
  const unsigned bits = left->getType()->getScalarSizeInBits();
  llvm::Type* wide = left->getType()->getExtendedType();
  Value* product =
      builder.CreateMul(builder.CreateZExt(left, wide), builder.CreateZExt(right, wide));
  Value* high = builder.CreateLShr(product, llvm::ConstantInt::get(wide, bits));
  return builder.CreateTrunc(high, left->getType());
}

Value* arithmetic(Builder& builder, Opcode code, DType dtype, const std::vector<Value*>& values) {
  if (!is_float(dtype)) {
    return code == Opcode::umulhi ? high_product(builder, values[0], values[1])
                                  : integer_op(builder, code, dtype, values);
  }
  switch (code) {
    case Opcode::minimum:
      return builder.CreateBinaryIntrinsic(intrinsic::minimum, values[0], values[1]);
    case Opcode::maximum:
      return builder.CreateBinaryIntrinsic(intrinsic::maximum, values[0], values[1]);
    default:
      return float_op(builder, code, values);
  }
}

}  // namespace

Value* emit_elementwise(Builder& builder, const ir::Op& op, const std::vector<ir::Type>& types,
                        const ir::Type& result, const std::vector<Value*>& operands) {
  const DType dtype = types.front().dtype;
  switch (op.code) {
    case Opcode::cast:
      return emit_cast(builder, dtype, result.dtype, operands[0]);
    case Opcode::bitcast: {
      llvm::Type* to = register_type(builder.getContext(), result);
      if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType())) {
        to = with_lanes(to, static_cast<int>(vector->getNumElements()));
      }
      return builder.CreateBitCast(operands[0], to);
    }
    case Opcode::select:
      return builder.CreateSelect(operands[0], operands[1], operands[2]);
    default:
      break;
  }
  if (types.front().pointer && op.code != Opcode::compare) {
    throw Error(ErrorKind::internal,
                "operation '" + std::string(ir::name(op.code)) + "' on pointers in a CPU kernel");
  }
  // 16-bit floats are computed in f32 and rounded after each operation.
  const bool narrow = !types.front().pointer && (dtype == DType::f16 || dtype == DType::bf16);
  std::vector<Value*> v = operands;
  if (narrow) {
    for (auto& value : v) value = emit_cast(builder, dtype, DType::f32, value);
  }
  if (op.code == Opcode::compare) {
    const DType as = types.front().pointer ? DType::u64 : narrow ? DType::f32 : dtype;
    return compare(builder, op.predicate, as, v[0], v[1]);
  }
  Value* value = arithmetic(builder, op.code, dtype, v);
  if (value == nullptr) {
    throw Error(ErrorKind::internal,
                "operation '" + std::string(ir::name(op.code)) + "' of " +
                    std::string(name(dtype)) +
                    " reached the CPU backend; a pass should have expanded it");
  }
  return narrow ? emit_cast(builder, DType::f32, dtype, value) : value;
}

}  // namespace teeny::compiler::cpu
