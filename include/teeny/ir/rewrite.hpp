#pragma once

#include <functional>
#include <unordered_map>

#include "teeny/ir/builder.hpp"

namespace teeny::ir {

/// Rebuilds a kernel operation by operation. `visit` sees each operation with its operands already
/// mapped to the new kernel; it either appends what replaces it through `builder` and returns the
/// new results (one per old result), or returns nullopt to have the operation copied (its regions
/// are then rewritten in the same way).
using Visitor = std::function<std::optional<std::vector<ValueId>>(Builder& builder, const Op& mapped, const Op& original)>;
[[nodiscard]] Kernel rewrite(const Kernel& kernel, const Visitor& visit);

}  // namespace teeny::ir
