#pragma once

#include <string>

#include "teeny/base/tensor_type.hpp"

namespace teeny {

/// A tensor that a program reads from a weights file.
struct WeightNeed {
  std::string name;
  TensorType type;
  friend bool operator==(const WeightNeed&, const WeightNeed&) = default;
};

}  // namespace teeny
