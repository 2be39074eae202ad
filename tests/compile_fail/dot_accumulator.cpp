// expect: dot sums f16, bf16 and f32 in f32, f64 in f64, i8 in i32: acc must be of that dtype
#include "teeny/kernel.hpp"

struct Multiply {
  void operator()(teeny::Ptr<float> out) const {
    const auto a = teeny::zeros<teeny::f16, 32, 32>();
#ifdef FIXED
    const auto acc = teeny::zeros<float, 32, 32>();
#else
    const auto acc = teeny::zeros<teeny::f16, 32, 32>();
#endif
    teeny::store(out, teeny::sum(teeny::cast<float>(teeny::dot(a, a, acc))));
  }
};
