// expect: a tile is not a C\+\+ bool, its value is not known while recording: use if_\(\) or where\(\)
#include "teeny/kernel.hpp"

struct Guard {
  void operator()(teeny::Ptr<int> out, teeny::Int n) const {
#ifdef FIXED
    teeny::if_(n > 0, [&] { teeny::store(out, n); });
#else
    if (n > 0) teeny::store(out, n);
#endif
  }
};
