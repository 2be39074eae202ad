#include "tool/deploy/copy_plan.hpp"

#include <map>
#include <set>

namespace teeny::tool {

CopyPlan plan_copy(const std::vector<PackagedFile>& wanted, const std::vector<PackagedFile>& there,
                   const std::vector<PackagedFile>& lender) {
  std::map<std::string, const PackagedFile*> present;
  for (const auto& file : there) present[file.path] = &file;
  std::map<std::string, std::string> lent;  // digest -> path
  for (const auto& file : lender) lent.emplace(file.sha256, file.path);
  CopyPlan plan;
  std::set<std::string> good;
  for (const auto& file : wanted) {
    const auto at = present.find(file.path);
    if (at != present.end() && at->second->sha256 == file.sha256 && at->second->mode == file.mode) {
      plan.kept.push_back(file.path);
      good.insert(file.path);
      continue;
    }
    const auto from = lent.find(file.sha256);
    if (from != lent.end()) {
      plan.taken.emplace_back(from->second, file);
      continue;
    }
    plan.sent.push_back(file);
    plan.sent_bytes += file.size;
  }
  for (const auto& file : there) {
    if (good.count(file.path) == 0) plan.removed.push_back(file.path);
  }
  return plan;
}

}  // namespace teeny::tool
