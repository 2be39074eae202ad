#include "teeny/ir/type.hpp"

namespace teeny::ir {

std::int64_t element_count(const Shape& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::string to_string(const Type& type) {
  std::string text;
  if (type.pointer) {
    text = type.read_only ? "ptr<const " : "ptr<";
    text.append(name(type.dtype)).append(">");
  } else {
    text = name(type.dtype);
  }
  if (type.shape.empty()) return text;
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (i != 0) text += 'x';
    text += std::to_string(type.shape[i]);
  }
  return text + ']';
}

std::string broken_rule(const Type& type) {
  if (type.read_only && !type.pointer) return "only pointers can be read-only";
  if (type.rank() > max_rank) {
    return "rank " + std::to_string(type.rank()) + " is above the limit of " +
           std::to_string(max_rank);
  }
  std::int64_t count = 1;
  for (const std::int64_t extent : type.shape) {
    if (extent < 1 || (extent & (extent - 1)) != 0) {
      return "extent " + std::to_string(extent) + " is not a power of two";
    }
    // Compared before it is multiplied: the product of the largest extents does not fit.
    if (extent > max_elements / count) {
      return "a tile may have at most " + std::to_string(max_elements) + " elements";
    }
    count *= extent;
  }
  return {};
}

}  // namespace teeny::ir
