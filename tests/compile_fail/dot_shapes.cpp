// expect: dot_wants_MxK_and_KxN<teeny::extents<64, 32>, teeny::extents<64, 32> ?>
#include "teeny/kernel.hpp"

struct Multiply {
  void operator()(teeny::Ptr<float> out) const {
    const auto a = teeny::zeros<teeny::f16, 64, 32>();
#ifdef FIXED
    teeny::store(out, teeny::sum(teeny::dot(a, teeny::trans(a))));
#else
    teeny::store(out, teeny::sum(teeny::dot(a, a)));
#endif
  }
};
