// expect: the body of a fold must return what it carries, dtype and shape unchanged
#include "teeny/kernel.hpp"

struct Total {
  void operator()(teeny::Ptr<const float> in, teeny::Ptr<float> out, teeny::Int n) const {
#ifdef FIXED
    const auto start = teeny::zeros<float, 64>();
#else
    const auto start = teeny::zeros<float>();
#endif
    const auto total = teeny::fold(teeny::range(0, n, 64), start, [&](teeny::Int i, auto sum) {
      return sum + teeny::load(in + i + teeny::arange<64>());
    });
    teeny::store(out, teeny::sum(total));
  }
};
