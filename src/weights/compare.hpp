#pragma once

#include <filesystem>
#include <vector>

#include "teeny/base/finding.hpp"
#include "teeny/cache/weight_need.hpp"
#include "teeny/weights/safetensors.hpp"

namespace teeny::detail {

/// Where each need is met: by a tensor of one file, of its dtype and shape. What is not is a
/// finding: of another dtype (finding_code::dtype); of another shape, missing or in two files
/// (finding_code::incomplete).
[[nodiscard]] std::vector<Finding> compare_weights(const std::vector<WeightNeed>& needs,
                                                   const std::vector<SafetensorsFile>& files);

/// The *.safetensors files right in a directory, sorted; none where there is no such directory.
[[nodiscard]] std::vector<std::filesystem::path> weights_files(
    const std::filesystem::path& directory);

}  // namespace teeny::detail
