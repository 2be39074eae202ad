#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teeny::tool {

/// Rows of cells as aligned columns, two blanks between; the last column is not padded.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);
/// "1.2 KiB", "35 MiB"; plain bytes below 1 KiB.
[[nodiscard]] std::string readable_size(std::uint64_t bytes);

}  // namespace teeny::tool
