#include "compiler/llvm/elements.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

namespace teeny::compiler {

using ir::Opcode;
using ir::Predicate;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type,
                          unsigned pointer_space) {
  if (type.pointer) return llvm::PointerType::get(context, pointer_space);
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

llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type, unsigned pointer_space) {
  if (!type.pointer && type.dtype == DType::boolean) return llvm::Type::getInt8Ty(context);
  return register_type(context, type, pointer_space);
}

int memory_bytes(const ir::Type& type) { return type.pointer ? 8 : size_of(type.dtype); }

Value* to_memory(Builder& builder, Value* value) {
  llvm::Type* type = value->getType();
  if (!type->isIntOrIntVectorTy(1)) return value;
  return builder.CreateZExt(value, type->getWithNewBitWidth(8));
}

Value* from_memory(Builder& builder, const ir::Type& type, Value* value) {
  if (type.pointer || type.dtype != DType::boolean) return value;
  return builder.CreateIsNotNull(value);
}

llvm::Constant* constant(llvm::LLVMContext& context, DType dtype, std::uint64_t bits) {
  llvm::Type* type = register_type(context, ir::Type::scalar(dtype), 0);
  const llvm::APInt integer(static_cast<unsigned>(bits_of(dtype)), bits);
  if (type->isFloatingPointTy()) {
    return llvm::ConstantFP::get(context, llvm::APFloat(type->getFltSemantics(), integer));
  }
  return llvm::ConstantInt::get(context, integer);
}

namespace {

/// An integer constant of the type of `like`.
Value* integer_like(Value* like, std::uint64_t bits) {
  return llvm::ConstantInt::get(like->getType(), bits);
}

Value* divide(Builder& builder, bool is_signed, bool remainder, Value* left, Value* right) {
  Value* zero = integer_like(right, 0);
  Value* one = integer_like(right, 1);
  Value* by_zero = builder.CreateICmpEQ(right, zero);
  if (!is_signed) {
    Value* safe = builder.CreateSelect(by_zero, one, right);
    Value* result = remainder ? builder.CreateURem(left, safe) : builder.CreateUDiv(left, safe);
    return builder.CreateSelect(by_zero, zero, result);
  }
  // lowest / -1 wraps here, has no value in LLVM and traps on some processors: x / -1 is 0 - x.
  Value* minus_one = llvm::Constant::getAllOnesValue(right->getType());
  Value* by_minus_one = builder.CreateICmpEQ(right, minus_one);
  Value* safe = builder.CreateSelect(builder.CreateOr(by_zero, by_minus_one), one, right);
  // What is left by 1 is 0, which is right for 0 and -1 too.
  if (remainder) return builder.CreateSRem(left, safe);
  Value* result = builder.CreateSDiv(left, safe);
  result = builder.CreateSelect(by_minus_one, builder.CreateNeg(left), result);
  return builder.CreateSelect(by_zero, zero, result);
}

Value* shift(Builder& builder, Opcode code, bool is_signed, Value* value, Value* amount) {
  // The shift itself must stay inside the width: beyond it LLVM's result means nothing.
  Value* highest = integer_like(amount, amount->getType()->getScalarSizeInBits() - 1);
  Value* within = builder.CreateBinaryIntrinsic(intrinsic::umin, amount, highest);
  if (code == Opcode::shr && is_signed) return builder.CreateAShr(value, within);
  Value* shifted =
      code == Opcode::shl ? builder.CreateShl(value, within) : builder.CreateLShr(value, within);
  return builder.CreateSelect(builder.CreateICmpULE(amount, highest), shifted,
                              integer_like(value, 0));
}

}  // namespace

Value* compare(Builder& builder, Predicate predicate, DType dtype, Value* left, Value* right) {
  using Code = llvm::CmpInst::Predicate;
  struct Codes {
    Code of_floats;
    Code of_signed;
    Code of_unsigned;
  };
  const Codes codes = [predicate]() -> Codes {
    switch (predicate) {
      case Predicate::eq:
        return {Code::FCMP_OEQ, Code::ICMP_EQ, Code::ICMP_EQ};
      case Predicate::ne:
        return {Code::FCMP_UNE, Code::ICMP_NE, Code::ICMP_NE};
      case Predicate::lt:
        return {Code::FCMP_OLT, Code::ICMP_SLT, Code::ICMP_ULT};
      case Predicate::le:
        return {Code::FCMP_OLE, Code::ICMP_SLE, Code::ICMP_ULE};
      case Predicate::gt:
        return {Code::FCMP_OGT, Code::ICMP_SGT, Code::ICMP_UGT};
      case Predicate::ge:
        break;
    }
    return {Code::FCMP_OGE, Code::ICMP_SGE, Code::ICMP_UGE};
  }();
  if (is_float(dtype)) return builder.CreateFCmp(codes.of_floats, left, right);
  return builder.CreateICmp(is_signed_int(dtype) ? codes.of_signed : codes.of_unsigned, left,
                            right);
}

Value* integer_op(Builder& builder, Opcode code, DType dtype, const std::vector<Value*>& values) {
  const bool is_signed = is_signed_int(dtype);
  Value* a = values[0];
  Value* b = values.size() > 1 ? values[1] : nullptr;
  switch (code) {
    case Opcode::neg:
      return builder.CreateNeg(a);
    case Opcode::abs:
      return is_signed ? builder.CreateBinaryIntrinsic(intrinsic::abs, a, builder.getFalse()) : a;
    case Opcode::bit_not:
      return builder.CreateNot(a);
    case Opcode::add:
      return builder.CreateAdd(a, b);
    case Opcode::sub:
      return builder.CreateSub(a, b);
    case Opcode::mul:
      return builder.CreateMul(a, b);
    case Opcode::div:
      return divide(builder, is_signed, false, a, b);
    case Opcode::rem:
      return divide(builder, is_signed, true, a, b);
    case Opcode::minimum:
      return builder.CreateBinaryIntrinsic(is_signed ? intrinsic::smin : intrinsic::umin, a, b);
    case Opcode::maximum:
      return builder.CreateBinaryIntrinsic(is_signed ? intrinsic::smax : intrinsic::umax, a, b);
    case Opcode::bit_and:
      return builder.CreateAnd(a, b);
    case Opcode::bit_or:
      return builder.CreateOr(a, b);
    case Opcode::bit_xor:
      return builder.CreateXor(a, b);
    case Opcode::shl:
    case Opcode::shr:
      return shift(builder, code, is_signed, a, b);
    default:
      return nullptr;
  }
}

Value* float_op(Builder& builder, Opcode code, const std::vector<Value*>& values) {
  const auto unary = [&](intrinsic::ID id) { return builder.CreateUnaryIntrinsic(id, values[0]); };
  switch (code) {
    case Opcode::neg:
      return builder.CreateFNeg(values[0]);
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
      return builder.CreateFAdd(values[0], values[1]);
    case Opcode::sub:
      return builder.CreateFSub(values[0], values[1]);
    case Opcode::mul:
      return builder.CreateFMul(values[0], values[1]);
    case Opcode::div:
      return builder.CreateFDiv(values[0], values[1]);
    case Opcode::fma:
      return builder.CreateIntrinsic(values[0]->getType(), intrinsic::fma,
                                     {values[0], values[1], values[2]});
    default:
      return nullptr;
  }
}

}  // namespace teeny::compiler
