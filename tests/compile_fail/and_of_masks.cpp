// expect: tiles have no && : write & between masks, in parentheses
#include "teeny/kernel.hpp"

struct Inside {
  void operator()(teeny::Ptr<int> out, teeny::Int n) const {
    const auto i = teeny::arange<64>();
#ifdef FIXED
    teeny::store(out + i, i, (i < n) & (i > 0));
#else
    teeny::store(out + i, i, (i < n) && (i > 0));
#endif
  }
};
