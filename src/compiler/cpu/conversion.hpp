#pragma once

#include <llvm/IR/Module.h>

#include "compiler/cpu/elementwise.hpp"

namespace teeny::compiler::cpu {

/// f16 (bits in an i16) to f32, exact; by the processor's own instructions.
[[nodiscard]] llvm::Value* half_to_float(Builder& builder, llvm::Value* bits);
/// f32 to f16 bits, to nearest even.
[[nodiscard]] llvm::Value* float_to_half(Builder& builder, llvm::Value* value);
/// Until this is called, the two above are calls of functions that do not exist. LLVM's optimiser
/// would otherwise turn computations on f32 between two conversions into ones on f16, which
/// processors without f16 arithmetic then do element by element, and minimum and maximum wrongly.
/// Before the optimiser for a processor with f16 arithmetic, after it for others.
void resolve_half_conversions(llvm::Module& module);
/// bf16 (bits in an i16) to f32, exact.
[[nodiscard]] llvm::Value* bfloat_to_float(Builder& builder, llvm::Value* bits);
/// f32 to bf16 bits, to nearest even; NaN stays NaN.
[[nodiscard]] llvm::Value* float_to_bfloat(Builder& builder, llvm::Value* value);
/// f64 to f32 rounded to odd: a second rounding to at most 22 bits of precision then gives what one
/// rounding of the f64 would have given.
[[nodiscard]] llvm::Value* double_to_odd_float(Builder& builder, llvm::Value* value);

}  // namespace teeny::compiler::cpu
