// expect: this kernel has run-time members but declares no variants, so it could not be compiled ahead of time
#include <vector>

#include "launch_support.hpp"

struct Scale {
  float factor;
#ifdef FIXED
  static std::vector<Scale> variants() { return {{0.5f}, {2.0f}}; }
#endif
  void operator()(teeny::Ptr<float> data) const {
    const auto p = data + teeny::arange<64>();
    teeny::store(p, teeny::load(p) * factor);
  }
};

void run(teeny::DevicePtr<float> data) { launch(Scale{2.0f}, data); }
