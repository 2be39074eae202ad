// expect: tiles of two dtypes do not mix: convert one with cast<T>\(x\)
#include "teeny/kernel.hpp"

struct Scale {
  void operator()(teeny::Ptr<float> out, teeny::Int factor) const {
    const auto p = out + teeny::arange<64>();
#ifdef FIXED
    teeny::store(p, teeny::load(p) * teeny::cast<float>(factor));
#else
    teeny::store(p, teeny::load(p) * factor);
#endif
  }
};
