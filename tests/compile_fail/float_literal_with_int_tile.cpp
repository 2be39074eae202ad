// expect: a float literal does not mix with an integer tile: write an integer, or cast<f32>\(x\) the tile
#include "teeny/kernel.hpp"

struct Halves {
  void operator()(teeny::Ptr<float> out) const {
    const auto i = teeny::arange<64>();
#ifdef FIXED
    teeny::store(out + i, teeny::cast<float>(i) * 0.5f);
#else
    teeny::store(out + i, teeny::cast<float>(i * 0.5f));
#endif
  }
};
