#include "teeny/target/board.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

Board orin_nano() {
  Board board;
  board.name = "jetson-orin-nano";
  board.triple = "aarch64-linux-gnu";
  board.cpu = "cortex-a78ae";
  board.capability = Capability::sm_87;
  board.integrated = true;
  for (const auto& [name, driver] :
       std::vector<std::pair<const char*, DriverVersion>>{{"6.0", {12, 2}}, {"6.2", {12, 6}}}) {
    BoardGeneration generation;
    generation.name = name;
    generation.driver = driver;
    generation.ptx_ceiling = ptx_ceiling(driver);
    board.generations.push_back(generation);
  }
  return board;
}

Board server() {
  Board board;
  board.name = "h200-server";
  board.triple = "x86_64-linux-gnu";
  board.cpu = "x86-64-v4";
  board.capability = Capability::sm_90;
  BoardGeneration generation;
  generation.name = "550";
  generation.driver = DriverVersion{12, 4};
  board.generations.push_back(generation);
  return board;
}

Board no_gpu() {
  Board board;
  board.name = "generic-aarch64";
  board.triple = "aarch64-unknown-linux-gnu";
  board.cpu = "generic";
  board.generations.push_back({"22.04", "", "Ubuntu 22.04", "2.35", "3.4.30"});
  return board;
}

TEST(Board, WhatLoads) {
  const Board board = orin_nano();
  for (const auto capability : {Capability::sm_72, Capability::sm_75, Capability::sm_80,
                                Capability::sm_86, Capability::sm_87}) {
    EXPECT_EQ(conflict(board, capability), std::nullopt) << capability.name();
  }
  EXPECT_EQ(conflict(board, Target(Capability::sm_87, {8, 2})), std::nullopt);
  EXPECT_EQ(conflict(server(), Capability::sm_90a), std::nullopt);
}

TEST(Board, WhatDoesNot) {
  EXPECT_EQ(conflict(orin_nano(), Capability::sm_89),
            "wanted capability 8.9 or later for PTX of sm_89, board jetson-orin-nano@6.0 has 8.7");
  EXPECT_TRUE(conflict(orin_nano(), Capability::sm_90a));
  EXPECT_TRUE(conflict(server(), Capability::sm_100));
}

TEST(Board, TheCeilingOfItsGeneration) {
  Board board = orin_nano();
  EXPECT_EQ(
      conflict(board, Target(Capability::sm_87, {8, 5})),
      "wanted a driver that loads PTX 8.5 (CUDA 12.5 or later), board jetson-orin-nano@6.0 has "
      "driver 12.2, whose ceiling is PTX 8.2 (jetson-orin-nano@6.2 takes it)");
  EXPECT_EQ(
      conflict(board, Target(Capability::sm_87, {8, 6})),
      "wanted a driver that loads PTX 8.6 (CUDA 12.7 or later), board jetson-orin-nano@6.0 has "
      "driver 12.2, whose ceiling is PTX 8.2");
  board.generation = 1;
  EXPECT_EQ(conflict(board, Target(Capability::sm_87, {8, 5})), std::nullopt);
  EXPECT_TRUE(conflict(board, Target(Capability::sm_87, {8, 6})));
  // The driver table answers where the file states no ceiling.
  EXPECT_EQ(conflict(server(), Target(Capability::sm_90, {8, 4})), std::nullopt);
  EXPECT_TRUE(conflict(server(), Target(Capability::sm_90, {8, 5})));
}

TEST(Board, TheLowestVersionCountsWhereNoneIsAsked) {
  Board old = orin_nano();
  old.capability = Capability::sm_120;
  const auto text = conflict(old, Capability::sm_120);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("loads PTX 8.7"), std::string::npos) << *text;
}

TEST(Board, WithoutACudaDevice) {
  EXPECT_EQ(conflict(no_gpu(), Capability::sm_87),
            "wanted a CUDA device of capability sm_87, board generic-aarch64@22.04 has none");
  EXPECT_EQ(conflict(no_gpu(), CpuTarget{"aarch64-linux-gnu", "cortex-a72", ""}), std::nullopt);
}

TEST(Board, AnotherTriple) {
  EXPECT_EQ(conflict(orin_nano(), CpuTarget{"x86_64-linux-gnu", "x86-64-v3", ""}),
            "wanted a processor of x86_64-linux-gnu, board jetson-orin-nano@6.0 has "
            "aarch64-linux-gnu");
  EXPECT_EQ(conflict(orin_nano(), CpuTarget{"aarch64-unknown-linux-gnu", "carmel", ""}),
            std::nullopt);
}

TEST(Board, IdleTensorCores) {
  EXPECT_EQ(
      idle_notice(server(), Capability::sm_75),
      "kernels for sm_75 run on h200-server@550 (sm_90), but its newer Tensor Cores stay idle; "
      "capability=sm_90 compiles for them");
  EXPECT_TRUE(idle_notice(server(), Capability::sm_87));
  EXPECT_EQ(idle_notice(server(), Capability::sm_90), std::nullopt);
  EXPECT_EQ(idle_notice(server(), Capability::sm_90a), std::nullopt);
  EXPECT_EQ(idle_notice(server(), Capability::sm_100), std::nullopt);
  EXPECT_EQ(idle_notice(no_gpu(), Capability::sm_75), std::nullopt);
  EXPECT_EQ(idle_notice(orin_nano(), CpuTarget{"aarch64-linux-gnu", "generic", ""}), std::nullopt);
}

}  // namespace
}  // namespace teeny
