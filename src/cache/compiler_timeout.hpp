#pragma once

#include <chrono>

namespace teeny::detail {

/// How long teenyc may take over one kernel: TEENYC_TIMEOUT in seconds, else 60. Error(usage) for a
/// value that is none.
[[nodiscard]] std::chrono::milliseconds compiler_timeout();

}  // namespace teeny::detail
