// expect: a kernel with AnyTile parameters needs `std::vector<ir::Type> signature\(\) const`
#include <vector>

#include "launch_support.hpp"

struct Clear {
#ifdef FIXED
  std::vector<teeny::ir::Type> signature() const { return {teeny::Ptr<float>::type()}; }
#endif
  void operator()(teeny::AnyPtr data) const { teeny::store(data, 0); }
};

void run(teeny::DevicePtr<float> data) { launch(Clear{}, data); }
