// expect: shapes_do_not_broadcast<teeny::extents<64, 32>, teeny::extents<64> ?>
#include "teeny/kernel.hpp"

struct RowTimesColumn {
  void operator()(teeny::Ptr<float> p) const {
    const auto tile = teeny::zeros<float, 64, 32>();
    const auto column = teeny::full<float, 64>(2.0f);
#ifdef FIXED
    teeny::store(p, teeny::sum(tile * teeny::expand_dims<1>(column)));
#else
    teeny::store(p, teeny::sum(tile * column));
#endif
  }
};
