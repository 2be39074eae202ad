#include "tool/deploy/copy_plan.hpp"

#include <gtest/gtest.h>

using namespace teeny;
using namespace teeny::tool;

namespace {
PackagedFile file(const std::string& path, const std::string& digest, unsigned mode = 0644,
                  std::uint64_t size = 10) {
  return {path, mode, size, digest};
}
}  // namespace

TEST(CopyPlan, SendsOnlyWhatIsNowhere) {
  const auto plan =
      plan_copy({file("a", "1"), file("b", "2"), file("c", "3"), file("d", "4", 0755)},
                {file("a", "1"), file("b", "half"), file("stale", "9")},
                {file("moved", "2"), file("d", "4", 0644)});
  EXPECT_EQ(plan.kept, std::vector<std::string>{"a"});
  ASSERT_EQ(plan.taken.size(), 2U);
  EXPECT_EQ(plan.taken[0].first, "moved");
  EXPECT_EQ(plan.taken[0].second.path, "b");
  EXPECT_EQ(plan.taken[1].second.mode, 0755U);
  ASSERT_EQ(plan.sent.size(), 1U);
  EXPECT_EQ(plan.sent[0].path, "c");
  EXPECT_EQ(plan.sent_bytes, 10U);
  EXPECT_EQ(plan.removed, (std::vector<std::string>{"b", "stale"}));
}

TEST(CopyPlan, AnotherModeIsAnotherFile) {
  const auto plan = plan_copy({file("a", "1", 0755)}, {file("a", "1", 0644)}, {});
  EXPECT_TRUE(plan.kept.empty());
  EXPECT_EQ(plan.removed, std::vector<std::string>{"a"});
  EXPECT_EQ(plan.sent.size(), 1U);
}

TEST(CopyPlan, WhatIsNoFileLendsNothing) {
  const PackagedFile link{"a", 0, 0, "not a file"};
  const auto plan = plan_copy({file("a", "1")}, {link}, {link});
  EXPECT_EQ(plan.removed, std::vector<std::string>{"a"});
  EXPECT_EQ(plan.sent.size(), 1U);
}
