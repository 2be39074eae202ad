#pragma once

#include "compiler/passes/expr.hpp"

namespace teeny::compiler {

/// Elementary functions of f32 and f64 values as arithmetic of the tile IR: what every backend
/// computes, in the same order, and so the same bits. Every function takes and gives NaN,
/// infinities, zeros of both signs and subnormals as C's does. Largest error in ulp, measured by
/// tests/compiler/math_test.cpp: exp, exp2, log, log2 2; tanh, sigmoid, erf, sin, cos 3 (f64: 4).
/// sin and cos reduce their argument in three steps: relative accuracy holds up to |x| = 1e5 and is
/// lost above.
[[nodiscard]] Expr exp_of(Expr x);
[[nodiscard]] Expr exp2_of(Expr x);
[[nodiscard]] Expr log_of(Expr x);
[[nodiscard]] Expr log2_of(Expr x);
[[nodiscard]] Expr tanh_of(Expr x);
[[nodiscard]] Expr sigmoid_of(Expr x);
[[nodiscard]] Expr erf_of(Expr x);
[[nodiscard]] Expr sin_of(Expr x);
[[nodiscard]] Expr cos_of(Expr x);
[[nodiscard]] Expr rsqrt_of(Expr x);

/// The exact remainder of C's fmod, f32 or f64.
[[nodiscard]] Expr fmod_of(Expr x, Expr y);

/// f64 -> f32 such that a further rounding to f16 or bf16 gives what one rounding of the f64 would
/// (round to odd: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
[[nodiscard]] Expr to_f32_odd(Expr x);
/// A 32- or 64-bit integer -> f64, with the same promise.
[[nodiscard]] Expr integer_to_f64_odd(Expr x);

}  // namespace teeny::compiler
