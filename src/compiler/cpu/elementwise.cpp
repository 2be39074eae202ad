#include "compiler/cpu/elementwise.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include "compiler/cpu/conversion.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::cpu {

using ir::Opcode;
using ir::Predicate;
using llvm::Value;
using llvm::Intrinsic::ID;
namespace intrinsic = llvm::Intrinsic;

llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type) {
  if (type.pointer) return llvm::PointerType::getUnqual(context);
  switch (type.dtype) {
    case DType::boolean:
      return llvm::Type::getInt1Ty(context);
    case DType::f32:
      return llvm::Type::getFloatTy(context);
    case DType::f64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::IntegerType::get(context, static_cast<unsigned>(bits_of(type.dtype)));
  }
}

llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type) {
  if (!type.pointer && type.dtype == DType::boolean) return llvm::Type::getInt8Ty(context);
  return register_type(context, type);
}

std::int64_t memory_size(const ir::Type& type) { return type.pointer ? 8 : size_of(type.dtype); }

llvm::Type* with_lanes(llvm::Type* element, int lanes) {
  if (lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

Value* constant_of(llvm::LLVMContext& context, DType dtype, std::uint64_t bits) {
  llvm::Type* type = register_type(context, ir::Type::scalar(dtype));
  const llvm::APInt integer(static_cast<unsigned>(bits_of(dtype)), bits);
  if (type->isFloatingPointTy()) {
    return llvm::ConstantFP::get(context, llvm::APFloat(type->getFltSemantics(), integer));
  }
  return llvm::ConstantInt::get(type, integer);
}

Value* from_memory(Builder& builder, const ir::Type& type, Value* value) {
  if (type.pointer || type.dtype != DType::boolean) return value;
  return builder.CreateIsNotNull(value);
}

Value* to_memory(Builder& builder, const ir::Type& type, Value* value) {
  if (type.pointer || type.dtype != DType::boolean) return value;
  return builder.CreateZExt(value, value->getType()->getWithNewBitWidth(8));
}

namespace {

/// An integer constant of the (scalar or vector) type of `like`.
Value* integer_like(Value* like, std::uint64_t bits) {
  return llvm::ConstantInt::get(like->getType(), bits);
}

Value* divide(Builder& builder, bool is_signed, bool remainder, Value* left, Value* right) {
  Value* zero = integer_like(right, 0);
  Value* one = integer_like(right, 1);
  Value* by_zero = builder.CreateICmpEQ(right, zero);
  Value* safe = builder.CreateSelect(by_zero, one, right);
  if (!is_signed) {
    Value* result = remainder ? builder.CreateURem(left, safe) : builder.CreateUDiv(left, safe);
    return builder.CreateSelect(by_zero, zero, result);
  }
  // lowest / -1 traps on some processors: x / -1 is 0 - x, and its remainder 0.
  Value* minus_one = llvm::Constant::getAllOnesValue(right->getType());
  Value* negate = builder.CreateICmpEQ(right, minus_one);
  safe = builder.CreateSelect(negate, one, safe);
  Value* result = remainder ? builder.CreateSRem(left, safe) : builder.CreateSDiv(left, safe);
  Value* negated = remainder ? zero : builder.CreateNeg(left);
  result = builder.CreateSelect(negate, negated, result);
  return builder.CreateSelect(by_zero, zero, result);
}

Value* shift(Builder& builder, Opcode code, bool is_signed, Value* left, Value* amount) {
  const unsigned bits = left->getType()->getScalarSizeInBits();
  Value* inside = builder.CreateICmpULT(amount, integer_like(amount, bits));
  if (code == Opcode::shr && is_signed) {
    Value* most = integer_like(amount, bits - 1);
    return builder.CreateAShr(left, builder.CreateSelect(inside, amount, most));
  }
  // The shift itself must stay inside the width: beyond it LLVM's result means nothing.
  Value* masked = builder.CreateSelect(inside, amount, integer_like(amount, 0));
  Value* shifted =
      code == Opcode::shl ? builder.CreateShl(left, masked) : builder.CreateLShr(left, masked);
  return builder.CreateSelect(inside, shifted, integer_like(left, 0));
}

Value* high_product(Builder& builder, Value* left, Value* right) {
  const unsigned bits = left->getType()->getScalarSizeInBits();
  llvm::Type* wide = left->getType()->getExtendedType();
  Value* product =
      builder.CreateMul(builder.CreateZExt(left, wide), builder.CreateZExt(right, wide));
  return builder.CreateTrunc(builder.CreateLShr(product, integer_like(product, bits)),
                             left->getType());
}

Value* compare(Builder& builder, Predicate predicate, DType dtype, Value* left, Value* right) {
  using P = llvm::CmpInst::Predicate;
  if (is_float(dtype)) {
    P code = P::FCMP_OEQ;
    switch (predicate) {
      case Predicate::eq:
        code = P::FCMP_OEQ;
        break;
      case Predicate::ne:
        code = P::FCMP_UNE;
        break;
      case Predicate::lt:
        code = P::FCMP_OLT;
        break;
      case Predicate::le:
        code = P::FCMP_OLE;
        break;
      case Predicate::gt:
        code = P::FCMP_OGT;
        break;
      case Predicate::ge:
        code = P::FCMP_OGE;
        break;
    }
    return builder.CreateFCmp(code, left, right);
  }
  const bool is_signed = is_signed_int(dtype);
  P code = P::ICMP_EQ;
  switch (predicate) {
    case Predicate::eq:
      code = P::ICMP_EQ;
      break;
    case Predicate::ne:
      code = P::ICMP_NE;
      break;
    case Predicate::lt:
      code = is_signed ? P::ICMP_SLT : P::ICMP_ULT;
      break;
    case Predicate::le:
      code = is_signed ? P::ICMP_SLE : P::ICMP_ULE;
      break;
    case Predicate::gt:
      code = is_signed ? P::ICMP_SGT : P::ICMP_UGT;
      break;
    case Predicate::ge:
      code = is_signed ? P::ICMP_SGE : P::ICMP_UGE;
      break;
  }
  return builder.CreateICmp(code, left, right);
}

Value* integer_op(Builder& builder, Opcode code, DType dtype, const std::vector<Value*>& v) {
  const bool is_signed = is_signed_int(dtype);
  switch (code) {
    case Opcode::neg:
      return builder.CreateNeg(v[0]);
    case Opcode::abs:
      return is_signed ? builder.CreateBinaryIntrinsic(intrinsic::abs, v[0], builder.getFalse())
                       : v[0];
    case Opcode::bit_not:
      return builder.CreateNot(v[0]);
    case Opcode::add:
      return builder.CreateAdd(v[0], v[1]);
    case Opcode::sub:
      return builder.CreateSub(v[0], v[1]);
    case Opcode::mul:
      return builder.CreateMul(v[0], v[1]);
    case Opcode::div:
      return divide(builder, is_signed, false, v[0], v[1]);
    case Opcode::rem:
      return divide(builder, is_signed, true, v[0], v[1]);
    case Opcode::minimum:
      return builder.CreateBinaryIntrinsic(is_signed ? intrinsic::smin : intrinsic::umin, v[0],
                                           v[1]);
    case Opcode::maximum:
      return builder.CreateBinaryIntrinsic(is_signed ? intrinsic::smax : intrinsic::umax, v[0],
                                           v[1]);
    case Opcode::bit_and:
      return builder.CreateAnd(v[0], v[1]);
    case Opcode::bit_or:
      return builder.CreateOr(v[0], v[1]);
    case Opcode::bit_xor:
      return builder.CreateXor(v[0], v[1]);
    case Opcode::shl:
    case Opcode::shr:
      return shift(builder, code, is_signed, v[0], v[1]);
    case Opcode::umulhi:
      return high_product(builder, v[0], v[1]);
    default:
      return nullptr;
  }
}

Value* float_op(Builder& builder, Opcode code, const std::vector<Value*>& v) {
  const auto unary = [&](ID id) { return builder.CreateUnaryIntrinsic(id, v[0]); };
  switch (code) {
    case Opcode::neg:
      return builder.CreateFNeg(v[0]);
    case Opcode::abs:
      return unary(intrinsic::fabs);
    case Opcode::sqrt:
      return unary(intrinsic::sqrt);
    case Opcode::floor:
      return unary(intrinsic::floor);
    case Opcode::ceil:
      return unary(intrinsic::ceil);
    case Opcode::round:
      return unary(intrinsic::roundeven);
    case Opcode::add:
      return builder.CreateFAdd(v[0], v[1]);
    case Opcode::sub:
      return builder.CreateFSub(v[0], v[1]);
    case Opcode::mul:
      return builder.CreateFMul(v[0], v[1]);
    case Opcode::div:
      return builder.CreateFDiv(v[0], v[1]);
    case Opcode::minimum:
      return builder.CreateBinaryIntrinsic(intrinsic::minimum, v[0], v[1]);
    case Opcode::maximum:
      return builder.CreateBinaryIntrinsic(intrinsic::maximum, v[0], v[1]);
    case Opcode::fma:
      return builder.CreateIntrinsic(v[0]->getType(), intrinsic::fma, {v[0], v[1], v[2]});
    default:
      return nullptr;
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
  Value* value =
      is_float(dtype) ? float_op(builder, op.code, v) : integer_op(builder, op.code, dtype, v);
  if (value == nullptr) {
    throw Error(ErrorKind::internal,
                "operation '" + std::string(ir::name(op.code)) + "' of " +
                    std::string(name(dtype)) +
                    " reached the CPU backend; a pass should have expanded it");
  }
  return narrow ? emit_cast(builder, DType::f32, dtype, value) : value;
}

}  // namespace teeny::compiler::cpu
