// expect: store through Ptr<const T>: the kernel promised only to read there; make the parameter a Ptr<T>
#include "teeny/kernel.hpp"

struct InPlace {
#ifdef FIXED
  void operator()(teeny::Ptr<float> data) const {
#else
  void operator()(teeny::Ptr<const float> data) const {
#endif
      const auto p = data + teeny::arange<64>();
  teeny::store(p, teeny::load(p) + 1);
}
}
;
