// expect: shapes_do_not_broadcast<teeny::extents<8>, teeny::extents<16> ?>
#include "teeny/kernel.hpp"

struct Choose {
  void operator()(teeny::Ptr<float> p) const {
#ifdef FIXED
    const auto mask = teeny::arange<16>() < 3;
#else
    const auto mask = teeny::arange<8>() < 3;
#endif
    teeny::store(p + teeny::arange<16>(), teeny::where(mask, teeny::zeros<float, 16>(), 1.0f));
  }
};
