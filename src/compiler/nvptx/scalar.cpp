#include "compiler/nvptx/scalar.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/nvptx/instructions.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Opcode;
using ir::Predicate;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace intrinsics = llvm::Intrinsic;

llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type) {
  if (type.pointer) return llvm::PointerType::get(context, global_space);
  switch (type.dtype) {
    case DType::boolean:
      return llvm::Type::getInt1Ty(context);
    case DType::f32:
      return llvm::Type::getFloatTy(context);
    case DType::f64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::Type::getIntNTy(context, static_cast<unsigned>(bits_of(type.dtype)));
  }
}

llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type) {
  if (!type.pointer && type.dtype == DType::boolean) return llvm::Type::getInt8Ty(context);
  return register_type(context, type);
}

int memory_bytes(const ir::Type& type) { return type.pointer ? 8 : size_of(type.dtype); }

Value* to_memory(Builder& builder, Value* value) {
  return value->getType()->isIntegerTy(1) ? builder.CreateZExt(value, builder.getInt8Ty()) : value;
}

Value* from_memory(Builder& builder, const ir::Type& type, Value* value) {
  if (type.pointer || type.dtype != DType::boolean) return value;
  return builder.CreateICmpNE(value, builder.getInt8(0));
}

llvm::Constant* constant(llvm::LLVMContext& context, DType dtype, std::uint64_t bits) {
  llvm::Type* type = register_type(context, ir::Type::scalar(dtype));
  const auto width = static_cast<unsigned>(bits_of(dtype));
  const llvm::APInt value(width, bits, false);
  if (type->isFloatTy()) {
    return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEsingle(), value));
  }
  if (type->isDoubleTy()) {
    return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEdouble(), value));
  }
  return llvm::ConstantInt::get(context, value);
}

namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

Error not_expanded(std::string_view what) {
  return Error(ErrorKind::internal,
               "operation " + std::string(what) + " reached the PTX backend without being expanded",
               "This is a bug in teeny: please report it with the kernel's IR.");
}

}  // namespace

Value* ScalarOps::emit(const ir::Op& op, const ir::Type& operand, const ir::Type& result,
                       const std::vector<Value*>& values) {
  switch (op.code) {
    case Opcode::select:
      return builder_.CreateSelect(values[0], values[1], values[2]);
    case Opcode::cast:
      return cast(values[0], operand.dtype, result.dtype);
    case Opcode::bitcast:
      return builder_.CreateBitCast(values[0], register_type(builder_.getContext(), result));
    case Opcode::compare:
      return compare(op.predicate, operand.dtype, values[0], values[1]);
    case Opcode::offset: {
      llvm::Type* element = memory_type(builder_.getContext(), ir::Type::scalar(operand.dtype));
      return builder_.CreateGEP(element, values[0], values[1]);
    }
    default:
      return is_float(operand.dtype) ? float_op(op, operand.dtype, values)
                                     : int_op(op, operand.dtype, values);
  }
}

Value* ScalarOps::float_op(const ir::Op& op, DType dtype, const std::vector<Value*>& values) {
  if (is_half(dtype)) {
    // Signs are bits; everything else is done in f32 and rounded.
    if (op.code == Opcode::neg) return builder_.CreateXor(values[0], builder_.getInt16(0x8000));
    if (op.code == Opcode::abs) return builder_.CreateAnd(values[0], builder_.getInt16(0x7fff));
    std::vector<Value*> wide;
    wide.reserve(values.size());
    for (Value* value : values) wide.push_back(to_float(value, dtype));
    return from_float(float_op(op, DType::f32, wide), dtype);
  }
  switch (op.code) {
    case Opcode::add:
      return builder_.CreateFAdd(values[0], values[1]);
    case Opcode::sub:
      return builder_.CreateFSub(values[0], values[1]);
    case Opcode::mul:
      return builder_.CreateFMul(values[0], values[1]);
    case Opcode::div:
      return builder_.CreateFDiv(values[0], values[1]);
    case Opcode::minimum:
    case Opcode::maximum:
      return minimum_or_maximum(op.code == Opcode::minimum, values[0], values[1]);
    case Opcode::fma:
      return builder_.CreateIntrinsic(intrinsics::fma, {values[0]->getType()},
                                      {values[0], values[1], values[2]});
    default:
      return float_unary(op.code, values[0]);
  }
}

Value* ScalarOps::float_unary(Opcode code, Value* value) {
  const auto call = [&](ID id) { return builder_.CreateUnaryIntrinsic(id, value); };
  switch (code) {
    case Opcode::neg:
      return builder_.CreateFNeg(value);
    case Opcode::abs:
      return call(intrinsics::fabs);
    case Opcode::sqrt:
      return call(intrinsics::sqrt);
    case Opcode::floor:
      return call(intrinsics::floor);
    case Opcode::ceil:
      return call(intrinsics::ceil);
    case Opcode::round:
      return call(intrinsics::roundeven);
    default:
      throw not_expanded(ir::name(code));
  }
}

Value* ScalarOps::minimum_or_maximum(bool minimum, Value* a, Value* b) {
  if (a->getType()->isFloatTy() && has(capability_, Family::min_nan)) {
    return builder_.CreateBinaryIntrinsic(minimum ? intrinsics::minimum : intrinsics::maximum, a,
                                          b);
  }
  // min.f32 and min.f64 give the number where one operand is NaN; the sum of both is NaN then.
  Value* number =
      builder_.CreateBinaryIntrinsic(minimum ? intrinsics::minnum : intrinsics::maxnum, a, b);
  Value* unordered = builder_.CreateFCmpUNO(a, b);
  return builder_.CreateSelect(unordered, builder_.CreateFAdd(a, b), number);
}

Value* ScalarOps::int_op(const ir::Op& op, DType dtype, const std::vector<Value*>& values) {
  const bool is_signed = is_signed_int(dtype);
  Value* a = values[0];
  Value* b = values.size() > 1 ? values[1] : nullptr;
  switch (op.code) {
    case Opcode::neg:
      return builder_.CreateNeg(a);
    case Opcode::abs:
      if (!is_signed) return a;
      return builder_.CreateBinaryIntrinsic(intrinsics::abs, a, builder_.getFalse());
    case Opcode::bit_not:
      return builder_.CreateNot(a);
    case Opcode::add:
      return builder_.CreateAdd(a, b);
    case Opcode::sub:
      return builder_.CreateSub(a, b);
    case Opcode::mul:
      return builder_.CreateMul(a, b);
    case Opcode::div:
      return divide(dtype, a, b, false);
    case Opcode::rem:
      return divide(dtype, a, b, true);
    case Opcode::minimum:
      return builder_.CreateBinaryIntrinsic(is_signed ? intrinsics::smin : intrinsics::umin, a, b);
    case Opcode::maximum:
      return builder_.CreateBinaryIntrinsic(is_signed ? intrinsics::smax : intrinsics::umax, a, b);
    case Opcode::bit_and:
      return builder_.CreateAnd(a, b);
    case Opcode::bit_or:
      return builder_.CreateOr(a, b);
    case Opcode::bit_xor:
      return builder_.CreateXor(a, b);
    case Opcode::shl:
      return shift(dtype, a, b, true);
    case Opcode::shr:
      return shift(dtype, a, b, false);
    case Opcode::umulhi:
      return multiply_high(a, b);
    default:
      throw not_expanded(ir::name(op.code));
  }
}

Value* ScalarOps::divide(DType dtype, Value* dividend, Value* divisor, bool remainder) {
  llvm::Type* type = dividend->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = builder_.CreateICmpEQ(divisor, zero);
  if (!is_signed_int(dtype)) {
    Value* safe = builder_.CreateSelect(by_zero, one, divisor);
    Value* result =
        remainder ? builder_.CreateURem(dividend, safe) : builder_.CreateUDiv(dividend, safe);
    return builder_.CreateSelect(by_zero, zero, result);
  }
  // LLVM has no value for lowest / -1, which wraps here: division by -1 is negation.
  Value* by_minus_one = builder_.CreateICmpEQ(divisor, llvm::ConstantInt::getSigned(type, -1));
  Value* safe = builder_.CreateSelect(builder_.CreateOr(by_zero, by_minus_one), one, divisor);
  if (remainder) {
    // What is left by 1 is 0, which is right for 0 and -1 too.
    return builder_.CreateSRem(dividend, safe);
  }
  Value* result = builder_.CreateSDiv(dividend, safe);
  result = builder_.CreateSelect(by_minus_one, builder_.CreateNeg(dividend), result);
  return builder_.CreateSelect(by_zero, zero, result);
}

Value* ScalarOps::shift(DType dtype, Value* value, Value* amount, bool left) {
  llvm::Type* type = value->getType();
  const unsigned width = type->getIntegerBitWidth();
  Value* highest = llvm::ConstantInt::get(type, width - 1);
  Value* within = builder_.CreateBinaryIntrinsic(intrinsics::umin, amount, highest);
  if (!left && is_signed_int(dtype)) return builder_.CreateAShr(value, within);
  Value* shifted = left ? builder_.CreateShl(value, within) : builder_.CreateLShr(value, within);
  return builder_.CreateSelect(builder_.CreateICmpULE(amount, highest), shifted,
                               llvm::ConstantInt::get(type, 0));
}

Value* ScalarOps::multiply_high(Value* a, Value* b) {
  const ID id =
      a->getType()->isIntegerTy(32) ? intrinsics::nvvm_mulhi_ui : intrinsics::nvvm_mulhi_ull;
  return builder_.CreateIntrinsic(id, {}, {a, b});
}

Value* ScalarOps::compare(Predicate predicate, DType dtype, Value* a, Value* b) {
  using Code = llvm::CmpInst::Predicate;
  if (is_float(dtype)) {
    static constexpr Code codes[] = {Code::FCMP_OEQ, Code::FCMP_UNE, Code::FCMP_OLT,
                                     Code::FCMP_OLE, Code::FCMP_OGT, Code::FCMP_OGE};
    return builder_.CreateFCmp(codes[static_cast<std::size_t>(predicate)], to_float(a, dtype),
                               to_float(b, dtype));
  }
  static constexpr Code signed_codes[] = {Code::ICMP_EQ,  Code::ICMP_NE,  Code::ICMP_SLT,
                                          Code::ICMP_SLE, Code::ICMP_SGT, Code::ICMP_SGE};
  static constexpr Code unsigned_codes[] = {Code::ICMP_EQ,  Code::ICMP_NE,  Code::ICMP_ULT,
                                            Code::ICMP_ULE, Code::ICMP_UGT, Code::ICMP_UGE};
  const auto& codes = is_signed_int(dtype) ? signed_codes : unsigned_codes;
  return builder_.CreateICmp(codes[static_cast<std::size_t>(predicate)], a, b);
}

Value* ScalarOps::intrinsic(ID id, Value* value) {
  return builder_.CreateIntrinsic(id, {}, {value});
}

Value* ScalarOps::to_float(Value* value, DType from) {
  if (from == DType::f16) {
    return builder_.CreateFPExt(builder_.CreateBitCast(value, builder_.getHalfTy()),
                                builder_.getFloatTy());
  }
  if (from == DType::bf16) {
    Value* bits = builder_.CreateShl(builder_.CreateZExt(value, builder_.getInt32Ty()), 16);
    return builder_.CreateBitCast(bits, builder_.getFloatTy());
  }
  return value;
}

Value* ScalarOps::from_float(Value* value, DType to) {
  if (to == DType::f16) {
    return builder_.CreateBitCast(builder_.CreateFPTrunc(value, builder_.getHalfTy()),
                                  builder_.getInt16Ty());
  }
  return to == DType::bf16 ? float_to_bf16(value) : value;
}

Value* ScalarOps::float_to_bf16(Value* value) {
  if (has(capability_, Family::convert_bf16)) {
    return builder_.CreateBitCast(builder_.CreateFPTrunc(value, builder_.getBFloatTy()),
                                  builder_.getInt16Ty());
  }
  // Adding half a unit, less one where the result would stay even, carries into the upper half.
  Value* bits = builder_.CreateBitCast(value, builder_.getInt32Ty());
  Value* upper = builder_.CreateLShr(bits, 16);
  Value* half = builder_.CreateAdd(builder_.CreateAnd(upper, 1), builder_.getInt32(0x7fff));
  Value* rounded = builder_.CreateLShr(builder_.CreateAdd(bits, half), 16);
  Value* nan = builder_.CreateOr(upper, 0x40);
  Value* is_nan = builder_.CreateFCmpUNO(value, value);
  return builder_.CreateTrunc(builder_.CreateSelect(is_nan, nan, rounded), builder_.getInt16Ty());
}

// Rounding to odd keeps in the last bit whether anything was lost, so rounding once more, to
// something narrower, gives what rounding once would have given.
Value* ScalarOps::double_to_odd_float(Value* value) {
  Value* down = intrinsic(intrinsics::nvvm_d2f_rz, value);
  Value* inexact =
      builder_.CreateFCmpUNE(builder_.CreateFPExt(down, builder_.getDoubleTy()), value);
  Value* bits = builder_.CreateBitCast(down, builder_.getInt32Ty());
  bits = builder_.CreateOr(bits, builder_.CreateZExt(inexact, builder_.getInt32Ty()));
  return builder_.CreateBitCast(bits, builder_.getFloatTy());
}

Value* ScalarOps::int_to_bf16(Value* value, DType from) {
  if (bits_of(from) <= 16) {
    // Exact in f32.
    return float_to_bf16(cast(value, from, DType::f32));
  }
  if (bits_of(from) == 32) {
    return float_to_bf16(double_to_odd_float(cast(value, from, DType::f64)));
  }
  const bool is_signed = is_signed_int(from);
  Value* down = intrinsic(is_signed ? intrinsics::nvvm_ll2f_rz : intrinsics::nvvm_ull2f_rz, value);
  Value* back = intrinsic(is_signed ? intrinsics::nvvm_f2ll_rz : intrinsics::nvvm_f2ull_rz, down);
  Value* bits = builder_.CreateBitCast(down, builder_.getInt32Ty());
  Value* inexact = builder_.CreateICmpNE(back, value);
  bits = builder_.CreateOr(bits, builder_.CreateZExt(inexact, builder_.getInt32Ty()));
  return float_to_bf16(builder_.CreateBitCast(bits, builder_.getFloatTy()));
}

Value* ScalarOps::float_to_int(Value* value, DType to) {
  const ID id = is_signed_int(to) ? intrinsics::fptosi_sat : intrinsics::fptoui_sat;
  llvm::Type* type = builder_.getIntNTy(static_cast<unsigned>(bits_of(to)));
  return builder_.CreateIntrinsic(id, {type, value->getType()}, {value});
}

Value* ScalarOps::cast(Value* value, DType from, DType to) {
  if (from == to) return value;
  llvm::Type* type = register_type(builder_.getContext(), ir::Type::scalar(to));
  if (is_float(from)) {
    if (is_half(from)) return cast(to_float(value, from), DType::f32, to);
    if (to == DType::boolean) {
      return builder_.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0));
    }
    if (!is_float(to)) return float_to_int(value, to);
    if (to == DType::f64) return builder_.CreateFPExt(value, type);
    if (from == DType::f32) return from_float(value, to);
    if (to == DType::f32) return builder_.CreateFPTrunc(value, type);
    return from_float(double_to_odd_float(value), to);
  }
  if (to == DType::boolean) {
    return builder_.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  }
  const bool is_signed = is_signed_int(from);
  if (!is_float(to)) return builder_.CreateIntCast(value, type, is_signed);
  if (to == DType::bf16) return int_to_bf16(value, from);
  llvm::Type* number = to == DType::f16 ? builder_.getHalfTy() : type;
  Value* result =
      is_signed ? builder_.CreateSIToFP(value, number) : builder_.CreateUIToFP(value, number);
  return builder_.CreateBitCast(result, type);
}

}  // namespace teeny::compiler::nvptx
