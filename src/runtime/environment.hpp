#pragma once

namespace teeny::detail {

/// Whether a variable says 1; unset, empty and 0 are no. Error(usage) for any other value.
[[nodiscard]] bool environment_flag(const char* name);

}  // namespace teeny::detail
