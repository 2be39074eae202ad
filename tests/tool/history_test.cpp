#include "tool/deploy/history.hpp"

#include <gtest/gtest.h>

using namespace teeny::tool;

namespace {
using Ids = std::vector<std::string>;
}  // namespace

TEST(History, TheReleaseBefore) {
  EXPECT_EQ(release_before({"a", "b", "c"}, "c", {"a", "b", "c"}), "b");
  EXPECT_EQ(release_before({"a", "b", "c"}, "c", {"a", "c"}), "a");
  EXPECT_EQ(release_before({"a", "b", "a"}, "a", {"a", "b"}), "b");
  EXPECT_EQ(release_before({"a"}, "a", {"a"}), "");
  EXPECT_EQ(release_before({}, "a", {"a"}), "");
  EXPECT_EQ(release_before({"a", "b"}, "", {"a", "b"}), "b");
}

TEST(History, AnInterruptedSwitchDoesNotCount) {
  // The entry of c was written, the switch to it did not come about.
  EXPECT_EQ(release_before({"a", "b", "c"}, "b", {"a", "b", "c"}), "a");
  EXPECT_EQ(history_after_deploy({"a", "b", "c"}, "b", "d"), (Ids{"a", "b", "d"}));
  EXPECT_EQ(release_before({"a", "b"}, "c", {"a", "b", "c"}), "b");
}

TEST(History, DeployAppends) {
  EXPECT_EQ(history_after_deploy({}, "", "a"), (Ids{"a"}));
  EXPECT_EQ(history_after_deploy({}, "a", "b"), (Ids{"a", "b"}));
  EXPECT_EQ(history_after_deploy({"a", "b"}, "b", "b"), (Ids{"a", "b"}));
  EXPECT_EQ(history_after_deploy({"a", "b"}, "b", "a"), (Ids{"a", "b", "a"}));
  Ids many;
  for (int i = 0; i < 1000; ++i) {
    const std::string before = many.empty() ? "" : many.back();
    many = history_after_deploy(many, before, std::to_string(i));
  }
  EXPECT_EQ(many.size(), 200U);
  EXPECT_EQ(many.back(), "999");
}

TEST(History, RollingBackTwiceGoesTwoReleasesBack) {
  const Ids there = {"a", "b", "c"};
  Ids history = {"a", "b", "c"};
  history = history_after_rollback(history, "c", release_before(history, "c", there));
  EXPECT_EQ(history, (Ids{"a", "b"}));
  EXPECT_EQ(release_before(history, "b", there), "a");
  // Cut off between history and switch.
  EXPECT_EQ(release_before(history, "c", there), "b");
}

TEST(History, KeepsWhatIsInUseAndWhatWasBefore) {
  const Ids there = {"a", "b", "c", "d", "x"};
  EXPECT_EQ(releases_to_remove({"a", "b", "c", "d"}, "d", there, 2), (Ids{"b", "a", "x"}));
  EXPECT_EQ(releases_to_remove({"a", "b", "c", "d"}, "d", there, 3), (Ids{"a", "x"}));
  EXPECT_EQ(releases_to_remove({"a", "b", "c", "d"}, "d", there, 9), (Ids{}));
  EXPECT_EQ(releases_to_remove({"a", "b", "c", "d"}, "d", there, 0), (Ids{"b", "a", "x"}));
  EXPECT_EQ(releases_to_remove({}, "x", there, 2), (Ids{"b", "c", "d"}));
}
