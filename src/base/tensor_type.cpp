#include "teeny/base/tensor_type.hpp"

namespace teeny {

std::string shape_text(const std::vector<u64>& shape) {
  std::string text;
  for (const u64 extent : shape) text += (text.empty() ? "[" : "x") + std::to_string(extent);
  return text.empty() ? text : text + "]";
}

std::string to_string(const TensorType& type) {
  return std::string(name(type.dtype)) + shape_text(type.shape);
}

}  // namespace teeny
