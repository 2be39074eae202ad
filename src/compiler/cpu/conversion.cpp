#include "compiler/cpu/conversion.hpp"

#include <cmath>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/TargetParser/Triple.h>

namespace teeny::compiler::cpu {

using llvm::Value;

namespace {

/// `scalar`, with the lanes of `like`.
llvm::Type* shaped(llvm::Type* scalar, Value* like) {
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(like->getType())) {
    return llvm::VectorType::get(scalar, vector->getElementCount());
  }
  return scalar;
}

Value* number(Value* like, std::uint64_t bits) {
  return llvm::ConstantInt::get(like->getType(), bits);
}

/// The magnitude of an integer as an f64 that rounds to 22 bits or fewer as the integer itself
/// would: bits below the 52 highest are gathered into one.
Value* sticky_double(Builder& builder, Value* value, bool is_signed) {
  Value* wide = is_signed ? builder.CreateSExt(value, shaped(builder.getInt64Ty(), value))
                          : builder.CreateZExt(value, shaped(builder.getInt64Ty(), value));
  if (value->getType()->getScalarSizeInBits() < 64) {
    return builder.CreateSIToFP(wide, shaped(builder.getDoubleTy(), value));
  }
  Value* magnitude =
      is_signed ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, wide, builder.getFalse())
                : wide;
  Value* low = builder.CreateAnd(magnitude, number(magnitude, 0xfff));
  Value* sticky = builder.CreateSelect(builder.CreateIsNotNull(low), number(magnitude, 0x800),
                                       number(magnitude, 0));
  Value* gathered = builder.CreateOr(
      builder.CreateAnd(magnitude, number(magnitude, ~std::uint64_t{0xfff})), sticky);
  Value* large = builder.CreateICmpUGE(magnitude, number(magnitude, std::uint64_t{1} << 53));
  Value* exact = builder.CreateSelect(large, gathered, magnitude);
  Value* result = builder.CreateUIToFP(exact, shaped(builder.getDoubleTy(), value));
  if (!is_signed) return result;
  return builder.CreateSelect(builder.CreateICmpSLT(wide, number(wide, 0)),
                              builder.CreateFNeg(result), result);
}

Value* float_to_narrow(Builder& builder, DType to, Value* value) {
  return to == DType::f16 ? float_to_half(builder, value) : float_to_bfloat(builder, value);
}

bool is_x86(Builder& builder) {
  return llvm::Triple(builder.GetInsertBlock()->getModule()->getTargetTriple()).isX86();
}

/// Vectors of floats to integers of at most 32 bits, saturating, NaN to 0. LLVM's own saturating
/// conversion takes vectors apart on x86.
Value* saturate(Builder& builder, DType from, DType to, Value* value, llvm::Type* type) {
  const bool is_signed = is_signed_int(to);
  const int bits = bits_of(to);
  // What lies beyond the greatest float that fits is put right afterwards.
  const double above = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const int precision = from == DType::f32 ? 24 : 53;
  const bool exact = (is_signed ? bits - 1 : bits) <= precision;
  const double high = exact ? above - 1 : above - std::ldexp(above, -precision);
  const double low = is_signed ? -above : 0.0;
  const auto constant = [&](double v) { return llvm::ConstantFP::get(value->getType(), v); };
  Value* clamped = builder.CreateSelect(builder.CreateFCmpOGT(value, constant(low)), value,
                                        constant(low));  // NaN becomes the lowest
  clamped =
      builder.CreateSelect(builder.CreateFCmpOLT(clamped, constant(high)), clamped, constant(high));
  llvm::Type* wide = shaped(builder.getInt32Ty(), value);
  Value* integer = is_signed || bits < 32 ? builder.CreateFPToSI(clamped, wide)
                                          : builder.CreateFPToUI(clamped, wide);
  if (!exact) {
    const std::uint64_t greatest = is_signed ? 0x7fffffff : 0xffffffff;
    integer = builder.CreateSelect(builder.CreateFCmpOGE(value, constant(above)),
                                   llvm::ConstantInt::get(wide, greatest), integer);
  }
  if (is_signed) {
    integer = builder.CreateSelect(builder.CreateFCmpUNO(value, value),
                                   llvm::Constant::getNullValue(wide), integer);
  }
  return builder.CreateTrunc(integer, type);
}

Value* integer_to_float(Builder& builder, DType from, DType to, Value* value) {
  const bool is_signed = is_signed_int(from);
  if (to == DType::bf16 && bits_of(from) > 16) {
    return float_to_bfloat(builder,
                           double_to_odd_float(builder, sticky_double(builder, value, is_signed)));
  }
  // f16 needs no such care: what f32 does not hold exactly is beyond f16's range.
  const DType direct = to == DType::f64 ? DType::f64 : DType::f32;
  llvm::Type* type = shaped(register_type(builder.getContext(), ir::Type::scalar(direct)), value);
  Value* result = is_signed ? builder.CreateSIToFP(value, type) : builder.CreateUIToFP(value, type);
  return direct == to ? result : float_to_narrow(builder, to, result);
}

}  // namespace

namespace {

constexpr const char* widen_prefix = "teeny.half_to_float.";
constexpr const char* narrow_prefix = "teeny.float_to_half.";

/// A call of a function that does not exist: see resolve_half_conversions.
Value* opaque_call(Builder& builder, const char* prefix, Value* value, llvm::Type* result) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  auto function =
      module->getOrInsertFunction(prefix + std::to_string(lanes), result, value->getType());
  auto* declared = llvm::cast<llvm::Function>(function.getCallee());
  declared->setDoesNotAccessMemory();
  declared->setDoesNotThrow();
  declared->setWillReturn();
  declared->addFnAttr(llvm::Attribute::Speculatable);
  return builder.CreateCall(function, {value});
}

}  // namespace

Value* half_to_float(Builder& builder, Value* bits) {
  return opaque_call(builder, widen_prefix, bits, shaped(builder.getFloatTy(), bits));
}

Value* float_to_half(Builder& builder, Value* value) {
  return opaque_call(builder, narrow_prefix, value, shaped(builder.getInt16Ty(), value));
}

void resolve_half_conversions(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const bool widens = function.getName().starts_with(widen_prefix);
    if (!widens && !function.getName().starts_with(narrow_prefix)) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      Builder builder(call);
      Value* value = call->getArgOperand(0);
      if (widens) {
        Value* half = builder.CreateBitCast(value, shaped(builder.getHalfTy(), value));
        value = builder.CreateFPExt(half, call->getType());
      } else {
        Value* half = builder.CreateFPTrunc(value, shaped(builder.getHalfTy(), value));
        value = builder.CreateBitCast(half, call->getType());
      }
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

Value* bfloat_to_float(Builder& builder, Value* bits) {
  Value* wide = builder.CreateZExt(bits, shaped(builder.getInt32Ty(), bits));
  return builder.CreateBitCast(builder.CreateShl(wide, number(wide, 16)),
                               shaped(builder.getFloatTy(), bits));
}

Value* float_to_bfloat(Builder& builder, Value* value) {
  Value* bits = builder.CreateBitCast(value, shaped(builder.getInt32Ty(), value));
  Value* odd = builder.CreateAnd(builder.CreateLShr(bits, number(bits, 16)), number(bits, 1));
  Value* rounded = builder.CreateAdd(bits, builder.CreateAdd(odd, number(bits, 0x7fff)));
  // Rounding could carry a NaN into an infinity; a quiet one is made of it instead.
  Value* quiet = builder.CreateOr(bits, number(bits, 0x400000));
  Value* chosen = builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
  return builder.CreateTrunc(builder.CreateLShr(chosen, number(bits, 16)),
                             shaped(builder.getInt16Ty(), value));
}

Value* double_to_odd_float(Builder& builder, Value* value) {
  llvm::Type* single = shaped(builder.getFloatTy(), value);
  Value* nearest = builder.CreateFPTrunc(value, single);
  Value* back = builder.CreateFPExt(nearest, value->getType());
  Value* bits = builder.CreateBitCast(nearest, shaped(builder.getInt32Ty(), value));
  const auto magnitude = [&](Value* v) {
    return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
  };
  Value* inexact = builder.CreateFCmpONE(back, value);
  Value* above = builder.CreateFCmpOGT(magnitude(back), magnitude(value));
  Value* truncated = builder.CreateSelect(above, builder.CreateSub(bits, number(bits, 1)), bits);
  Value* odd = builder.CreateOr(truncated, number(bits, 1));
  return builder.CreateBitCast(builder.CreateSelect(inexact, odd, bits), single);
}

Value* emit_cast(Builder& builder, DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* type = shaped(register_type(builder.getContext(), ir::Type::scalar(to)), value);
  if (to == DType::boolean) {
    if (!is_float(from)) return builder.CreateIsNotNull(value);
    if (from != DType::f64) value = emit_cast(builder, from, DType::f32, value);
    return builder.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0));
  }
  if (from == DType::boolean) {
    if (!is_float(to)) return builder.CreateZExt(value, type);
    Value* byte = builder.CreateZExt(value, shaped(builder.getInt8Ty(), value));
    return integer_to_float(builder, DType::u8, to, byte);
  }
  if (is_int(from) && is_int(to)) {
    return builder.CreateIntCast(value, type, is_signed_int(from));
  }
  if (is_int(from)) return integer_to_float(builder, from, to, value);

  // From a float: 16-bit ones by way of f32, which holds them exactly.
  if (from == DType::f16) return emit_cast(builder, DType::f32, to, half_to_float(builder, value));
  if (from == DType::bf16)
    return emit_cast(builder, DType::f32, to, bfloat_to_float(builder, value));
  if (is_int(to)) {
    if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(value->getType());
        vector != nullptr && bits_of(to) <= 32 && is_x86(builder)) {
      return saturate(builder, from, to, value, type);
    }
    const auto id = is_signed_int(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (to == DType::f64) return builder.CreateFPExt(value, type);
  if (to == DType::f32) return builder.CreateFPTrunc(value, type);
  if (from == DType::f64) value = double_to_odd_float(builder, value);
  return float_to_narrow(builder, to, value);
}

}  // namespace teeny::compiler::cpu
