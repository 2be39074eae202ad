// expect: the stored value has another dtype than the pointer points to: store\(p, cast<T>\(value\)\)
#include "teeny/kernel.hpp"

struct Halve {
  void operator()(teeny::Ptr<teeny::f16> out, teeny::Ptr<const float> in) const {
    const auto i = teeny::arange<64>();
    const auto half = teeny::load(in + i) * 0.5f;
#ifdef FIXED
    teeny::store(out + i, teeny::cast<teeny::f16>(half));
#else
    teeny::store(out + i, half);
#endif
  }
};
