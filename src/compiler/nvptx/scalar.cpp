#include "compiler/nvptx/scalar.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/nvptx/instructions.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Opcode;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace intrinsics = llvm::Intrinsic;

namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

Error not_expanded(std::string_view what) {
  return Error(ErrorKind::internal,
               "operation " + std::string(what) + " reached the PTX backend without being expanded",
               "this is a bug in teeny: please report it with the kernel's IR");
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
      return compare(builder_, op.predicate, operand.dtype, to_float(values[0], operand.dtype),
                     to_float(values[1], operand.dtype));
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
  if (op.code == Opcode::minimum || op.code == Opcode::maximum) {
    return minimum_or_maximum(op.code == Opcode::minimum, values[0], values[1]);
  }
  Value* result = compiler::float_op(builder_, op.code, values);
  if (result == nullptr) throw not_expanded(ir::name(op.code));
  return result;
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
  if (op.code == Opcode::umulhi) return multiply_high(values[0], values[1]);
  Value* result = integer_op(builder_, op.code, dtype, values);
  if (result == nullptr) throw not_expanded(ir::name(op.code));
  return result;
}

Value* ScalarOps::multiply_high(Value* a, Value* b) {
  const ID id =
      a->getType()->isIntegerTy(32) ? intrinsics::nvvm_mulhi_ui : intrinsics::nvvm_mulhi_ull;
  return builder_.CreateIntrinsic(id, {}, {a, b});
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
