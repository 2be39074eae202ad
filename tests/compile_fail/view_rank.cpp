// expect: load<E...>\(view, at\) wants as many extents as the view has axes
#include "teeny/kernel.hpp"

struct Corner {
  void operator()(teeny::Ptr<const teeny::u8> image, teeny::Ptr<int> out, teeny::Int h,
                  teeny::Int w) const {
    const auto picture = teeny::view(image, {h, w});
#ifdef FIXED
    const auto tile = teeny::load<1, 64>(picture, {0, 0});
#else
    const auto tile = teeny::load<64>(picture, {0, 0});
#endif
    teeny::store(out, teeny::sum(teeny::cast<int>(tile)));
  }
};
