#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "teeny/ir/builder.hpp"

namespace teeny::ir {

/// Rebuilds a kernel operation by operation. `visit` sees each operation but the yields with its
/// operands mapped to the new kernel, its regions already rewritten and its results empty; it
/// either appends what replaces it through `builder` and returns the new results (one per old
/// result), or returns nullopt to have it appended as it is. A rewritten region may be used once at
/// most: in an operation, or by Builder::splice. Error(internal) when the number of results
/// differs.
using Visitor = std::function<std::optional<std::vector<ValueId>>(
    Builder& builder, const Op& mapped, const Op& original)>;
[[nodiscard]] Kernel rewrite(const Kernel& kernel, const Visitor& visit);

}  // namespace teeny::ir
