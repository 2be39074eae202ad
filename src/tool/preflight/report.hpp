#pragma once

#include <string>
#include <vector>

#include "tool/preflight/board_facts.hpp"

#include "teeny/base/finding.hpp"

namespace teeny::tool {

/// What a preflight found out.
struct PreflightReport {
  std::string package;  ///< its directory
  BoardFacts facts;
  std::vector<Finding> findings;
  std::vector<std::string> notices;

  /// 0 without findings, else the lowest code among them.
  [[nodiscard]] int exit_code() const noexcept;
};

/// The facts as a table: what, value, where it comes from.
[[nodiscard]] std::string as_table(const BoardFacts& facts);
/// Documented in docs/formats.md.
[[nodiscard]] std::string as_json(const PreflightReport& report);

}  // namespace teeny::tool
