#include "teeny/target/memory.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(MemoryFits, P47_WithinWhatIsAvailableLessTheMargin) {
  EXPECT_EQ(fit_memory(744 * mib, 1000 * mib, 256 * mib, "board"), MemoryFit::fits);
  EXPECT_EQ(fit_memory(744 * mib + 1, 1000 * mib, 256 * mib, "board"), MemoryFit::too_little);
  EXPECT_EQ(fit_memory(1, 100 * mib, 256 * mib, "board"), MemoryFit::too_little);
  EXPECT_EQ(fit_memory(0, 100 * mib, 256 * mib, "board"), MemoryFit::fits);
  EXPECT_EQ(fit_memory(~std::uint64_t{0}, ~std::uint64_t{0}, 0, "board"), MemoryFit::fits);
}

TEST(MemoryFits, P47_WhatIsNotDeclaredIsUnknownAndNeverNothing) {
  std::string why;
  EXPECT_EQ(fit_memory(std::nullopt, 100000 * mib, 256 * mib, "board x", &why), MemoryFit::unknown);
  EXPECT_NE(why.find("does not declare"), std::string::npos) << why;
  EXPECT_EQ(fit_memory(std::nullopt, 0, 0, "board x"), MemoryFit::unknown);
}

TEST(MemoryFits, SaysWhatIsWantedAndWhatThereIs) {
  std::string why;
  static_cast<void>(
      fit_memory(6000 * mib + 1, 5500 * mib + 9, 512 * mib, "board jetson-orin-nano@6.2", &why));
  EXPECT_EQ(why,
            "wanted 6001 MiB of device memory, board jetson-orin-nano@6.2 has 5500 MiB available, "
            "of which 512 MiB stay free");
}

TEST(MemoryFits, TheMarginGrowsWithTheBoard) {
  EXPECT_EQ(memory_margin(4096 * mib), 256 * mib);
  EXPECT_EQ(memory_margin(8192 * mib), 512 * mib);
  EXPECT_EQ(memory_margin(65536 * mib), 4096 * mib);
}

}  // namespace
}  // namespace teeny
