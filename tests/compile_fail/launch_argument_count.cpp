// expect: launch_wants_another_number_of_arguments<4, 3>
#include "launch_support.hpp"

void run(teeny::DevicePtr<float> a, teeny::DevicePtr<float> out) {
#ifdef FIXED
  launch(Add{}, a, a, out, 100);
#else
  launch(Add{}, a, a, out);
#endif
}
