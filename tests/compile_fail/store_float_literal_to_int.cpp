// expect: the stored literal does not fit the dtype the pointer points to
#include "teeny/kernel.hpp"

struct Fill {
  void operator()(teeny::Ptr<int> out) const {
#ifdef FIXED
    teeny::store(out + teeny::arange<64>(), 1);
#else
    teeny::store(out + teeny::arange<64>(), 1.0f);
#endif
  }
};
