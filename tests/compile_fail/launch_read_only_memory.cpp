// expect: launch_argument_is_read_only_but_the_kernel_writes_there<teeny::argument<3>, teeny::wanted<teeny::Ptr<float> ?>, teeny::found<teeny::DevicePtr<(const float|float const)> ?> ?>
#include "launch_support.hpp"

void run(teeny::DevicePtr<const float> weights, teeny::DevicePtr<float> out) {
#ifdef FIXED
  launch(Add{}, weights, weights, out, 100);
#else
  launch(Add{}, weights, out, weights, 100);
#endif
}
