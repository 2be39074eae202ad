// expect: launch_argument_does_not_fit<teeny::argument<2>, teeny::wanted<teeny::Ptr<(const float|float const)> ?>, teeny::found<teeny::DevicePtr<double> ?> ?>
#include "launch_support.hpp"

void run(teeny::DevicePtr<float> a, teeny::DevicePtr<float> b, teeny::DevicePtr<double> d) {
#ifdef FIXED
  launch(Add{}, a, b, b, 100);
  static_cast<void>(d);
#else
  launch(Add{}, a, d, b, 100);
#endif
}
