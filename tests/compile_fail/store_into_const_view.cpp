// expect: store into a view of Ptr<const T>: the kernel promised only to read there; make the parameter a Ptr<T>
#include "teeny/kernel.hpp"

struct InPlace {
#ifdef FIXED
  void operator()(teeny::Ptr<float> data, teeny::Int n) const {
#else
  void operator()(teeny::Ptr<const float> data, teeny::Int n) const {
#endif
      const auto row = teeny::view(data, {n});
  teeny::store(row, {0}, teeny::load<64>(row, {0}) + 1);
}
}
;
