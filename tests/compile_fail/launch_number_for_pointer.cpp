// expect: launch_argument_does_not_fit<teeny::argument<3>, teeny::wanted<teeny::Ptr<float> ?>, teeny::found<int> ?>
#include "launch_support.hpp"

void run(teeny::DevicePtr<float> a, teeny::DevicePtr<float> b, int n) {
#ifdef FIXED
  launch(Add{}, a, a, b, n);
#else
  launch(Add{}, a, b, n, n);
#endif
}
