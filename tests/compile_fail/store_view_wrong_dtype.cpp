// expect: the stored tile has another dtype than the view: store\(view, at, cast<T>\(tile\)\)
#include "teeny/kernel.hpp"

struct Whiten {
  void operator()(teeny::Ptr<teeny::u8> image, teeny::Int height, teeny::Int width) const {
    const auto picture = teeny::view(image, {height, width});
    const auto white = teeny::full<float, 8, 64>(255);
#ifdef FIXED
    teeny::store(picture, {0, 0}, teeny::cast<teeny::u8>(white));
#else
    teeny::store(picture, {0, 0}, white);
#endif
  }
};
