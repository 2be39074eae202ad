#pragma once

#include <optional>
#include <string>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// Where two kernels part: one line each, an operation as their texts have it, with its line number
/// there, or "nothing more" where one of them ends sooner.
struct Difference {
  std::string wanted;
  std::string found;
};

/// The first difference between two verified kernels; nullopt when their fingerprints are equal.
/// Like the fingerprint it follows the flow of data and not the order of recording: of the first
/// effect (a write, or what a region yields) that differs, the operation farthest up its operands
/// that is not the same in both.
[[nodiscard]] std::optional<Difference> first_difference(const Kernel& wanted, const Kernel& found);

}  // namespace teeny::ir
