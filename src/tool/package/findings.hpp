#pragma once

#include <string>
#include <vector>

#include "teeny/base/finding.hpp"

namespace teeny::tool {

/// Does nothing without findings. Else Error(board) whose text holds all of them and whose exit
/// code is the lowest among them; `what` begins the text.
void throw_findings(const std::vector<Finding>& findings, const std::string& what);

}  // namespace teeny::tool
