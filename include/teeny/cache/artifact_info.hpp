#pragma once

#include <string>
#include <string_view>

#include "teeny/cache/artifact.hpp"

namespace teeny {

/// The description of an artifact as one line of JSON, keys sorted, fields that are absent left
/// out: the same information gives the same bytes. Its "format" is `artifact_info_format`.
[[nodiscard]] std::string info_to_json(const ArtifactInfo& info);

/// Reads it back. Error(input) saying which field is missing or has the wrong form, or that the
/// description is of a newer format than this program reads.
[[nodiscard]] ArtifactInfo info_from_json(std::string_view json);

inline constexpr int artifact_info_format = 1;

}  // namespace teeny
