#pragma once

#include <string>
#include <unordered_map>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// A line of a kernel's text, from 1.
struct Line {
  int number;
  std::string text;  ///< without indent, and without the brace that opens a region
};

/// The line of every operation in what `print` writes.
[[nodiscard]] std::unordered_map<const Op*, Line> operation_lines(const Kernel& kernel);

}  // namespace teeny::ir
