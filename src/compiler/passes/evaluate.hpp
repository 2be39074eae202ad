#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "teeny/ir/op.hpp"

namespace teeny::compiler {

/// The element that an elementwise operation gives for constant elements, by the semantics of
/// ir/op.hpp; nullopt for operations that are not folded (transcendental functions).
/// `operand` is the dtype of the operands (of a select: of its values), `result` that of the
/// result.
[[nodiscard]] std::optional<std::uint64_t> evaluate(const ir::Op& op, DType operand, DType result,
                                                    const std::vector<std::uint64_t>& bits);

}  // namespace teeny::compiler
