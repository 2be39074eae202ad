#include "teeny/target/ptx_version.hpp"

#include <string>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/target/driver.hpp"
#include "teeny/target/target.hpp"

namespace teeny {
namespace {

TEST(PtxVersion, Spellings) {
  EXPECT_EQ(PtxVersion::parse("82"), (PtxVersion{8, 2}));
  EXPECT_EQ(PtxVersion::parse("8.2"), (PtxVersion{8, 2}));
  EXPECT_EQ(PtxVersion::parse("90"), (PtxVersion{9, 0}));
  EXPECT_EQ(PtxVersion::parse("99"), (PtxVersion{9, 9}));
  EXPECT_EQ(PtxVersion::parse("100"), (PtxVersion{10, 0}));
  for (const char* text : {"", "8", "8.", ".2", "8.25", "08.2", "082", "8,2", "ptx82", "8.2 ",
                           "-82", "8..2", "1234", "v8.2", "8.x"}) {
    EXPECT_FALSE(PtxVersion::parse(text)) << text;
  }
  EXPECT_EQ((PtxVersion{8, 2}.name()), "8.2");
  EXPECT_EQ((PtxVersion{8, 2}.number()), 82);
  EXPECT_LT((PtxVersion{7, 8}), (PtxVersion{8, 0}));
}

TEST(PtxVersion, OnlySomeWerePublished) {
  for (const char* text : {"6.0", "6.5", "7.0", "7.8", "8.0", "8.8", "9.0", "9.1"}) {
    EXPECT_TRUE(PtxVersion::parse(text)->published()) << text;
  }
  for (const char* text : {"5.0", "6.6", "7.9", "8.9", "9.2", "10.0"}) {
    EXPECT_FALSE(PtxVersion::parse(text)->published()) << text;
  }
}

TEST(Driver, Spellings) {
  EXPECT_EQ(DriverVersion::parse("12.6"), (DriverVersion{12, 6}));
  EXPECT_EQ(DriverVersion::from_cuda(12060), (DriverVersion{12, 6}));
  EXPECT_EQ(DriverVersion::from_cuda(11040), (DriverVersion{11, 4}));
  EXPECT_EQ((DriverVersion{12, 6}.name()), "12.6");
  for (const char* text : {"", "12", "126", "12.", ".6", "12.6.1", "012.6", "12.06", "a.b", "12.x",
                           "123.4", "-12.6"}) {
    EXPECT_FALSE(DriverVersion::parse(text)) << text;
  }
}

TEST(Driver, Ceilings) {
  const auto ceiling = [](int major, int minor) {
    const auto version = ptx_ceiling({major, minor});
    return version ? version->name() : "none";
  };
  EXPECT_EQ(ceiling(10, 2), "none");
  EXPECT_EQ(ceiling(11, 3), "none");
  EXPECT_EQ(ceiling(11, 4), "7.4");
  EXPECT_EQ(ceiling(11, 5), "7.5");
  EXPECT_EQ(ceiling(11, 8), "7.8");
  EXPECT_EQ(ceiling(11, 9), "7.8");
  EXPECT_EQ(ceiling(12, 0), "8.0");
  EXPECT_EQ(ceiling(12, 1), "8.1");
  EXPECT_EQ(ceiling(12, 2), "8.2");
  EXPECT_EQ(ceiling(12, 3), "8.3");
  EXPECT_EQ(ceiling(12, 4), "8.4");
  EXPECT_EQ(ceiling(12, 5), "8.5");
  EXPECT_EQ(ceiling(12, 6), "8.5");
  EXPECT_EQ(ceiling(12, 7), "8.6");
  EXPECT_EQ(ceiling(12, 8), "8.7");
  EXPECT_EQ(ceiling(12, 9), "8.8");
  EXPECT_EQ(ceiling(13, 0), "9.0");
  EXPECT_EQ(ceiling(13, 1), "9.1");
  EXPECT_EQ(ceiling(13, 2), "9.1");
  EXPECT_EQ(ceiling(14, 0), "9.1");
  EXPECT_EQ(highest_ptx().name(), "9.1");
}

TEST(Driver, OldestThatLoadsAVersion) {
  EXPECT_EQ(oldest_driver_for({6, 3})->name(), "11.4");
  EXPECT_EQ(oldest_driver_for({8, 5})->name(), "12.5");
  EXPECT_EQ(oldest_driver_for({8, 6})->name(), "12.7");
  EXPECT_EQ(oldest_driver_for({9, 1})->name(), "13.1");
  EXPECT_EQ(oldest_driver_for({9, 2}), std::nullopt);
}

std::string refusal(Capability target, const char* version, const char* driver = nullptr) {
  try {
    check_ptx_version("ptx-version", target, *PtxVersion::parse(version),
                      driver != nullptr ? DriverVersion::parse(driver) : std::nullopt);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(CheckPtxVersion, TheFloorIsTheChips) {
  const auto text = refusal(Capability::sm_87, "7.3");
  EXPECT_TRUE(says(text, "ptx-version=7.3")) << text;
  EXPECT_TRUE(says(text, "wanted PTX 7.4 or later, the floor of sm_87 (Jetson Orin), found 7.3"));
  EXPECT_TRUE(says(text, "from 7.4 to 9.1 work"));
  EXPECT_FALSE(says(text, "ceiling")) << text;
  EXPECT_EQ(refusal(Capability::sm_87, "7.4"), "");
  EXPECT_TRUE(
      says(refusal(Capability::sm_120, "8.6"), "wanted PTX 8.7 or later, the floor of sm_120"));
  EXPECT_EQ(refusal(Capability::sm_120, "8.7"), "");
}

TEST(CheckPtxVersion, TheCeilingIsTheDrivers) {
  auto text = refusal(Capability::sm_87, "9.9");
  EXPECT_TRUE(says(text,
                   "wanted PTX 9.1 or earlier, the ceiling of the newest driver that teeny "
                   "knows, CUDA 13.1, found 9.9"))
      << text;
  EXPECT_FALSE(says(text, "floor")) << text;
  EXPECT_EQ(refusal(Capability::sm_87, "9.1"), "");
  text = refusal(Capability::sm_87, "8.3", "12.2");
  EXPECT_TRUE(says(text, "wanted PTX 8.2 or earlier, the ceiling of driver 12.2, found 8.3"))
      << text;
  EXPECT_TRUE(says(text, "from 7.4 to 8.2 work")) << text;
  EXPECT_EQ(refusal(Capability::sm_87, "8.2", "12.2"), "");
  text = refusal(Capability::sm_87, "7.5", "11.4");
  EXPECT_TRUE(says(text, "7.4 is the one version that works")) << text;
  // A driver newer than the table loads at least what the newest known one does.
  EXPECT_EQ(refusal(Capability::sm_110, "9.1", "14.0"), "");
}

TEST(CheckPtxVersion, NoVersionServesBoth) {
  const auto text = refusal(Capability::sm_120, "8.7", "12.6");
  EXPECT_TRUE(says(text, "no PTX version serves both")) << text;
  EXPECT_TRUE(says(text, "8.7 or later, its floor")) << text;
  EXPECT_TRUE(says(text, "driver 12.6 loads PTX 8.5 at most, its ceiling")) << text;
  EXPECT_TRUE(says(text, "12.8 or later")) << text;
}

TEST(CheckPtxVersion, VersionsThatDoNotExist) {
  EXPECT_TRUE(says(refusal(Capability::sm_87, "7.9"), "never published"));
  EXPECT_TRUE(says(refusal(Capability::sm_87, "8.9"), "never published"));
  EXPECT_TRUE(says(refusal(Capability::sm_87, "8.2", "11.3"), "11.4 or later, found driver 11.3"));
}

}  // namespace
}  // namespace teeny
