// expect: this padding does not fit the dtype of the view: a float only a float, a bool only a bool
#include "teeny/kernel.hpp"

struct Corner {
  void operator()(teeny::Ptr<const teeny::u8> image, teeny::Ptr<int> out, teeny::Int h,
                  teeny::Int w) const {
    const auto picture = teeny::view(image, {h, w});
#ifdef FIXED
    const auto tile = teeny::load<1, 64>(picture, {-1, 0}, {.padding = 128});
#else
    const auto tile = teeny::load<1, 64>(picture, {-1, 0}, {.padding = 0.5});
#endif
    teeny::store(out, teeny::sum(teeny::cast<int>(tile)));
  }
};
