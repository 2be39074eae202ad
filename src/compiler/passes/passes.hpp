#pragma once

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

/// load_view and store_view become pointer arithmetic, masks, load and store (64-bit offsets).
[[nodiscard]] ir::Kernel expand_views(const ir::Kernel& kernel);

/// exp, exp2, log, log2, sin, cos, tanh, sigmoid, erf, rsqrt, rem of floats, f16/bf16 arithmetic
/// (done in f32 and rounded), and f64 -> f16/bf16 casts become arithmetic that both backends have
/// natively: our own polynomials, the same bits on CPU and GPU. What is left of floats: add sub mul
/// div neg abs sqrt fma floor ceil round minimum maximum compare select, in f32 and f64, casts, and
/// bit operations.
[[nodiscard]] ir::Kernel expand_math(const ir::Kernel& kernel);

/// Constant folding, algebraic identities, common subexpressions, dead code, loop-invariant motion
/// of pure operations.
[[nodiscard]] ir::Kernel canonicalise(const ir::Kernel& kernel);

/// The passes above in order; what a backend is given.
[[nodiscard]] ir::Kernel prepare(const ir::Kernel& kernel);

}  // namespace teeny::compiler
