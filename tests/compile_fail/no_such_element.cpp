// expect: a Tile holds bool, i8 to i64, u8 to u64, f16, bf16, f32 or f64
#include "teeny/kernel.hpp"

#ifdef FIXED
using Wide = teeny::f64;
#else
using Wide = long double;
#endif
teeny::Tile<Wide, 64> twice(const teeny::Tile<Wide, 64>& x) { return x + x; }
