#pragma once

#include "compiler/cpu/elementwise.hpp"

namespace teeny::compiler::cpu {

/// f16 (bits in an i16) to f32, exact; by the processor's own instructions.
[[nodiscard]] llvm::Value* half_to_float(Builder& builder, llvm::Value* bits);
/// f32 to f16 bits, to nearest even.
[[nodiscard]] llvm::Value* float_to_half(Builder& builder, llvm::Value* value);
/// bf16 (bits in an i16) to f32, exact.
[[nodiscard]] llvm::Value* bfloat_to_float(Builder& builder, llvm::Value* bits);
/// f32 to bf16 bits, to nearest even; NaN stays NaN.
[[nodiscard]] llvm::Value* float_to_bfloat(Builder& builder, llvm::Value* value);
/// f64 to f32 rounded to odd: a second rounding to at most 22 bits of precision then gives what one
/// rounding of the f64 would have given.
[[nodiscard]] llvm::Value* double_to_odd_float(Builder& builder, llvm::Value* value);

}  // namespace teeny::compiler::cpu
