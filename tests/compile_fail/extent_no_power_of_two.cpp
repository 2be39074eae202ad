// expect: every extent of a Tile is a power of two: take the next one and mask the rest
#include "teeny/kernel.hpp"

struct Hundred {
  void operator()(teeny::Ptr<int> out) const {
#ifdef FIXED
    const auto i = teeny::arange<128>();
    teeny::store(out + i, i, i < 100);
#else
    const auto i = teeny::arange<100>();
    teeny::store(out + i, i);
#endif
  }
};
