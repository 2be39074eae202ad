#include "teeny/target/capability.hpp"

#include <map>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"

namespace teeny {
namespace {

TEST(Capability, Spellings) {
  for (const char* text : {"sm_87", "87", "8.7"}) {
    EXPECT_EQ(Capability::parse(text), Capability::sm_87) << text;
  }
  for (const char* text : {"sm_90a", "90a", "9.0a"}) {
    EXPECT_EQ(Capability::parse(text), Capability::sm_90a) << text;
  }
  for (const char* text : {"sm_121", "121", "12.1"}) {
    EXPECT_EQ(Capability::parse(text), Capability::sm_121) << text;
  }
  EXPECT_EQ(Capability::parse("sm_100f"), Capability(10, 0, Capability::Suffix::family));
  EXPECT_EQ(Capability::parse("10.0"), Capability::sm_100);
  EXPECT_EQ(Capability::parse("8.8"), Capability(8, 8));
}

TEST(Capability, OtherShapesAreNone) {
  for (const char* text :
       {"",       "sm_",   "sm_8",       "8",      "a",   "8.",    ".7",   "8.75", "sm_88x",
        "SM_87",  "sm87",  "compute_87", "sm_87 ", " 87", "087",   "8..7", "1234", "sm_90aa",
        "sm_90b", "12.10", "8,7",        "native", "-87", "8.7.1", "f"}) {
    EXPECT_FALSE(Capability::parse(text)) << text;
  }
}

TEST(Capability, NamesGoThereAndBack) {
  for (const auto& info : known_capabilities()) {
    EXPECT_EQ(Capability::parse(info.capability.name()), info.capability);
    EXPECT_EQ(require_capability("capability", info.capability.name()), info.capability);
    EXPECT_EQ(find_capability(info.capability), &info);
  }
  EXPECT_EQ(Capability::sm_90a.name(), "sm_90a");
  EXPECT_EQ(Capability(10, 0, Capability::Suffix::family).name(), "sm_100f");
}

TEST(Capability, ComparedAsNumbers) {
  EXPECT_LT(Capability::sm_90, Capability::sm_90a);
  EXPECT_LT(Capability::sm_90a, Capability::sm_100);
  EXPECT_LT(Capability::sm_87, Capability::sm_120);
  EXPECT_EQ(Capability::sm_110.number(), 110);
  const auto& known = known_capabilities();
  for (std::size_t i = 1; i < known.size(); ++i) {
    EXPECT_LT(known[i - 1].capability, known[i].capability);
  }
}

TEST(Capability, FloorsOfPtx) {
  const std::map<std::string, std::string> floors = {
      {"sm_72", "6.1"},  {"sm_75", "6.3"},  {"sm_80", "7.0"},  {"sm_86", "7.1"},  {"sm_87", "7.4"},
      {"sm_89", "7.8"},  {"sm_90", "7.8"},  {"sm_90a", "8.0"}, {"sm_100", "8.6"}, {"sm_103", "8.8"},
      {"sm_110", "9.0"}, {"sm_120", "8.7"}, {"sm_121", "8.8"}};
  EXPECT_EQ(known_capabilities().size(), floors.size());
  for (const auto& info : known_capabilities()) {
    EXPECT_EQ(info.ptx_floor.name(), floors.at(info.capability.name()));
    EXPECT_TRUE(info.ptx_floor.published());
  }
}

TEST(Capability, JetsonChipsAreIntegrated) {
  for (const auto& info : known_capabilities()) {
    const bool jetson = info.chips.find("Jetson") != std::string_view::npos;
    EXPECT_EQ(info.integrated, jetson) << info.capability.name();
  }
  EXPECT_EQ(find_capability(Capability::sm_87)->max_shared_per_block_kib, 163);
  EXPECT_EQ(find_capability(Capability::sm_86)->max_shared_per_block_kib, 99);
}

TEST(Capability, OnlyTheSuffixedFormsThatAreEmitted) {
  for (const char* text : {"sm_80a", "sm_100a", "sm_100f", "sm_103a", "sm_120f", "sm_90f"}) {
    const auto capability = Capability::parse(text);
    ASSERT_TRUE(capability) << text;
    EXPECT_EQ(find_capability(*capability), nullptr) << text;
    EXPECT_THROW(static_cast<void>(require_capability("capability", text)), Error) << text;
  }
}

}  // namespace
}  // namespace teeny
