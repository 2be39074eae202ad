#include "tool/package/findings.hpp"

#include <algorithm>

#include "teeny/base/error.hpp"

namespace teeny::tool {

void throw_findings(const std::vector<Finding>& findings, const std::string& what) {
  if (findings.empty()) return;
  int code = findings.front().exit_code;
  std::string text = what;
  std::vector<std::string> advice;
  for (const auto& finding : findings) {
    code = std::min(code, finding.exit_code);
    text += "\n  " + finding.text;
    if (!finding.next.empty() &&
        std::find(advice.begin(), advice.end(), finding.next) == advice.end()) {
      advice.push_back(finding.next);
    }
  }
  std::string next;
  for (const auto& line : advice) next += (next.empty() ? "" : "\n") + line;
  throw Error(ErrorKind::board, text, next, code);
}

}  // namespace teeny::tool
