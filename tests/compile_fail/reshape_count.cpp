// expect: reshape_changes_the_number_of_elements<teeny::extents<64>, teeny::extents<8, 4> ?>
#include "teeny/kernel.hpp"

struct Square {
  void operator()(teeny::Ptr<int> out) const {
#ifdef FIXED
    const auto tile = teeny::reshape<8, 8>(teeny::arange<64>());
#else
    const auto tile = teeny::reshape<8, 4>(teeny::arange<64>());
#endif
    teeny::store(out, teeny::sum(tile));
  }
};
