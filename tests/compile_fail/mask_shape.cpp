// expect: shape_does_not_broadcast_to<teeny::extents<32>, teeny::extents<64> ?>
#include "teeny/kernel.hpp"

struct Copy {
  void operator()(teeny::Ptr<const float> from, teeny::Ptr<float> to, teeny::Int n) const {
    const auto i = teeny::arange<64>();
#ifdef FIXED
    const auto inside = i < n;
#else
    const auto inside = teeny::arange<32>() < n;
#endif
    teeny::store(to + i, teeny::load(from + i, {.mask = inside, .other = 0}), inside);
  }
};
