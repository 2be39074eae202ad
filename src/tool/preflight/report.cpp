#include "tool/preflight/report.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tool/package/table.hpp"

namespace teeny::tool {

int PreflightReport::exit_code() const noexcept {
  const auto lowest = std::min_element(
      findings.begin(), findings.end(),
      [](const Finding& a, const Finding& b) { return a.exit_code < b.exit_code; });
  return lowest == findings.end() ? 0 : lowest->exit_code;
}

std::string as_table(const BoardFacts& facts) {
  std::vector<std::vector<std::string>> rows = {{"FACT", "VALUE", "FROM"}};
  for (const auto& row : rows_of(facts)) {
    rows.push_back(
        {row.name, row.value.empty() ? "-" : row.value, std::string(to_string(row.origin))});
  }
  return aligned(rows);
}

std::string as_json(const PreflightReport& report) {
  using nlohmann::ordered_json;
  ordered_json root;
  root["schema"] = "teeny-preflight/1";
  root["package"] = report.package;
  root["board"] = report.facts.name();
  root["exit_code"] = report.exit_code();
  root["facts"] = ordered_json::object();
  for (const auto& row : rows_of(report.facts)) {
    root["facts"][row.name] = {
        {"value", row.value.empty() ? ordered_json() : ordered_json(row.value)},
        {"from", to_string(row.origin)}};
  }
  root["findings"] = ordered_json::array();
  for (const auto& finding : report.findings) {
    root["findings"].push_back(
        {{"code", finding.exit_code}, {"text", finding.text}, {"next", finding.next}});
  }
  root["notices"] = ordered_json(report.notices);
  // Paths and what a board says may hold any bytes.
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace teeny::tool
