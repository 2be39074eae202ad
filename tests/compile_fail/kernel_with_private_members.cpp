// expect: a kernel with constructors or private members needs `std::string members\(\) const`
#include <string>
#include <vector>

#include "launch_support.hpp"

class Scale {
 public:
  explicit Scale(int factor) : factor_(factor) {}
  static std::vector<Scale> variants() { return {Scale(2)}; }
#ifdef FIXED
  std::string members() const { return std::to_string(factor_); }
#endif
  void operator()(teeny::Ptr<int> data) const { teeny::store(data, teeny::load(data) * factor_); }

 private:
  int factor_;
};

void run(teeny::DevicePtr<int> data) { launch(Scale(2), data); }
