#pragma once

#include "teeny/base/error.hpp"

namespace teeny::detail {

/// "teeny: error: ..." on stderr, what to do next on the lines after it.
void report(const Error& error);

}  // namespace teeny::detail
