// expect: a kernel is a function object with one operator\(\) const, not overloaded, without auto parameters
#include "launch_support.hpp"

struct Clear {
#ifdef FIXED
  void operator()(teeny::Ptr<float> data) const { teeny::store(data, 0); }
#else
  void operator()(auto data) const { teeny::store(data, 0); }
#endif
};

void run(teeny::DevicePtr<float> data) { launch(Clear{}, data); }
