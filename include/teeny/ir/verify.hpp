#pragma once

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// Checks a kernel whole: every value defined once and before its use, in a region that sees it;
/// types as result_types says; regions end in a yield of the right types; nothing stored through a
/// read-only pointer; extents powers of two; options in range; the name an identifier.
/// Error(input) naming kernel, operation and rule.
void verify(const Kernel& kernel);

}  // namespace teeny::ir
