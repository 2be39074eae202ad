#pragma once

#include <filesystem>
#include <vector>

#include "teeny/base/finding.hpp"
#include "teeny/cache/weight_need.hpp"

namespace teeny {

/// All weights that this program declares (`teeny::Weight`), sorted by name. Error(usage) where one
/// name was declared twice with different types, or is empty.
[[nodiscard]] std::vector<WeightNeed> declared_weights();

namespace detail {

/// What keeps the weights files in a directory from being those that are needed.
using WeightsCheck = std::vector<Finding> (*)(const std::vector<WeightNeed>& needs,
                                              const std::filesystem::path& directory);

/// Called by a Weight, before main as a rule. `check` is how files are compared with what was
/// declared: the room that reads them lies above, and only a program with weights links it.
void declare_weight(WeightNeed need, WeightsCheck check);
/// The check that came with the declarations; null without any.
[[nodiscard]] WeightsCheck weights_check();

}  // namespace detail

}  // namespace teeny
