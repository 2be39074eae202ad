#include "tool/deploy/history.hpp"

#include <algorithm>

namespace teeny::tool {

namespace {

// A line is short, but the history of a board that is deployed to every day is long.
constexpr std::size_t longest_history = 200;

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Up to the last entry of `current`, which is the last one. A release that was put in place by
// other means has no entry: the history then is what was before it.
std::vector<std::string> that_came_about(std::vector<std::string> history,
                                         const std::string& current) {
  if (current.empty()) return history;
  const auto last = std::find(history.rbegin(), history.rend(), current);
  if (last != history.rend()) {
    history.erase(last.base(), history.end());
  } else {
    history.push_back(current);
  }
  return history;
}

}  // namespace

std::string release_before(const std::vector<std::string>& history, const std::string& current,
                           const std::vector<std::string>& there) {
  const auto past = that_came_about(history, current);
  for (auto id = past.rbegin(); id != past.rend(); ++id) {
    if (*id != current && is_among(there, *id)) return *id;
  }
  return "";
}

std::vector<std::string> history_after_deploy(std::vector<std::string> history,
                                              const std::string& current, const std::string& id) {
  history = that_came_about(std::move(history), current);
  if (history.empty() || history.back() != id) history.push_back(id);
  if (history.size() > longest_history) {
    history.erase(history.begin(), history.end() - static_cast<std::ptrdiff_t>(longest_history));
  }
  return history;
}

std::vector<std::string> history_after_rollback(std::vector<std::string> history,
                                                const std::string& current, const std::string& id) {
  history = that_came_about(std::move(history), current);
  while (!history.empty() && history.back() != id) history.pop_back();
  if (history.empty()) history.push_back(id);
  return history;
}

std::vector<std::string> releases_to_remove(const std::vector<std::string>& history,
                                            const std::string& current,
                                            const std::vector<std::string>& there,
                                            std::size_t keep) {
  std::vector<std::string> by_use;  // the latest in use first
  const auto past = that_came_about(history, current);
  for (auto id = past.rbegin(); id != past.rend(); ++id) {
    if (is_among(there, *id) && !is_among(by_use, *id)) by_use.push_back(*id);
  }
  for (const auto& id : there) {
    if (!is_among(by_use, id)) by_use.push_back(id);
  }
  const std::string before = release_before(history, current, there);
  std::vector<std::string> gone;
  for (std::size_t i = std::min(keep, by_use.size()); i < by_use.size(); ++i) {
    if (by_use[i] != current && by_use[i] != before) gone.push_back(by_use[i]);
  }
  return gone;
}

}  // namespace teeny::tool
