// expect: no arithmetic on bool: combine masks with & \| \^ !, or cast<i32>\(mask\)
#include "teeny/kernel.hpp"

struct Count {
  void operator()(teeny::Ptr<int> out, teeny::Int n) const {
    const auto i = teeny::arange<64>();
#ifdef FIXED
    teeny::store(out, teeny::sum(teeny::cast<int>(i < n) + teeny::cast<int>(i > 3)));
#else
    teeny::store(out, teeny::sum((i < n) + (i > 3)));
#endif
  }
};
