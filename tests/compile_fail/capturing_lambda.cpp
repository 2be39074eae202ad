// expect: this kernel has run-time members but declares no variants, so it could not be compiled ahead of time
#include "launch_support.hpp"

void run(teeny::DevicePtr<float> data, float factor) {
#ifdef FIXED
  launch([](teeny::Ptr<float> p, teeny::Scalar<float> f) { teeny::store(p, teeny::load(p) * f); },
         data, factor);
#else
  launch([factor](teeny::Ptr<float> p) { teeny::store(p, teeny::load(p) * factor); }, data);
#endif
}
