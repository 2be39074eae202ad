// expect: launch_argument_does_not_fit<teeny::argument<4>, teeny::wanted<teeny::Tile<int> ?>, teeny::found<double> ?>
#include "launch_support.hpp"

void run(teeny::DevicePtr<float> a, teeny::DevicePtr<float> b) {
#ifdef FIXED
  launch(Add{}, a, a, b, 100);
#else
  launch(Add{}, a, a, b, 1e2);
#endif
}
