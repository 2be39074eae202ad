#pragma once

#include <string>
#include <vector>

#include "teeny/base/dtype.hpp"

namespace teeny {

/// Element type and extents of a tensor in memory: row-major, outermost extent first.
struct TensorType {
  DType dtype = DType::f32;
  std::vector<u64> shape;  ///< empty: a scalar
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// "f32[64x32]"; "f32" for a scalar.
[[nodiscard]] std::string to_string(const TensorType& type);
/// "[64x32]"; nothing for a scalar.
[[nodiscard]] std::string shape_text(const std::vector<u64>& shape);

}  // namespace teeny
