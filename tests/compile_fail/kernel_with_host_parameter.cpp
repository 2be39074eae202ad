// expect: a kernel's parameters are Ptr<T>, Ptr<const T>, Scalar<T> \(Int\) or AnyTile
#include "launch_support.hpp"

struct Fill {
#ifdef FIXED
  void operator()(teeny::Ptr<int> data, teeny::Int value) const { teeny::store(data, value); }
#else
  void operator()(teeny::Ptr<int> data, int value) const { teeny::store(data, value); }
#endif
};

void run(teeny::DevicePtr<int> data) { launch(Fill{}, data, 3); }
