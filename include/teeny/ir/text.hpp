#pragma once

#include <string>
#include <string_view>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// The text form, one operation a line, regions indented; first line "teeny-ir 1". What a kernel
/// file in a package holds and what travels to teenyc. Values are renumbered in order of
/// appearance.
[[nodiscard]] std::string print(const Kernel& kernel);

/// Reads the text form back: `print(parse(print(k))) == print(k)`. Error(input) with line and
/// column; the result is verified.
[[nodiscard]] Kernel parse(std::string_view text);

}  // namespace teeny::ir
