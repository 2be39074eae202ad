#include "teeny/target/board_json.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"

namespace teeny {
namespace {

Board board() {
  Board board;
  board.name = "jetson-orin-nano";
  board.description = "Jetson \"Orin\" Nano";
  board.triple = "aarch64-linux-gnu";
  board.cpu = "cortex-a78ae";
  board.capability = Capability::sm_87;
  board.integrated = true;
  board.multiprocessors = 8;
  board.shared_memory_kib = 163;
  board.memory_mib = 7620;
  board.bandwidth_gbps = 68;
  board.cuda_target_directory = "aarch64-linux";
  board.sysroot_directories = {"/usr/include", "/lib"};
  board.generations = {
      {"6.0", "R36.3", "Ubuntu 22.04", "2.35", "3.4.30", DriverVersion{12, 2}, PtxVersion{8, 2}},
      {"6.2", "", "Ubuntu 22.04", "2.35", "3.4.30", DriverVersion{12, 6}, PtxVersion{8, 5}}};
  board.generation = 1;
  return board;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(board_from_json(text, "the file"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("the file"), std::string::npos);
    EXPECT_FALSE(error.next().empty());
    return error.message();
  }
  ADD_FAILURE() << text << " was read";
  return {};
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = board_to_json(board());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(BoardJson, ReadsBackWhatItWrites) {
  const std::string text = board_to_json(board());
  const Board read = board_from_json(text, "b.json");
  EXPECT_EQ(board_to_json(read), text);
  EXPECT_EQ(read.full_name(), "jetson-orin-nano@6.2");
  EXPECT_EQ(read.capability, Capability::sm_87);
  EXPECT_TRUE(read.integrated);
  EXPECT_EQ(read.shared_memory_kib, 163);
  EXPECT_EQ(read.memory_mib, 7620);
  EXPECT_EQ(read.sysroot_directories, board().sysroot_directories);
  EXPECT_EQ(read.chosen().driver, (DriverVersion{12, 6}));
  EXPECT_EQ(read.chosen().ptx_ceiling, (PtxVersion{8, 5}));
  EXPECT_EQ(read.generations.front().l4t, "R36.3");
}

TEST(BoardJson, WithoutACudaDevice) {
  Board plain = board();
  plain.capability.reset();
  plain.integrated = false;
  for (auto& generation : plain.generations) generation.driver = {}, generation.ptx_ceiling = {};
  const Board read = board_from_json(board_to_json(plain), "b.json");
  EXPECT_FALSE(read.capability);
  EXPECT_FALSE(read.chosen().driver);
  EXPECT_NE(board_to_json(plain).find("\"cuda\": null"), std::string::npos);
}

TEST(BoardJson, SaysWhatIsWrongWithAFile) {
  const std::string whole = board_to_json(board());
  for (std::size_t size = 0; size + 2 < whole.size(); size += 37) refusal(whole.substr(0, size));
  EXPECT_NE(refusal(with("\"schema\": 1", "\"schema\": 2")).find("format 2"), std::string::npos);
  EXPECT_NE(refusal(with("\"cpu\"", "\"zpu\"")).find("cpu"), std::string::npos);
  EXPECT_NE(refusal(with("sm_87", "sm_eight")).find("\"capability\" is \"sm_eight\""),
            std::string::npos);
  EXPECT_NE(refusal(with("12.6", "twelve")).find("\"driver\""), std::string::npos);
  EXPECT_NE(refusal(with("7620", "-1")).find("\"memory_mib\" is -1"), std::string::npos);
  EXPECT_NE(refusal(with("\"generation\": \"6.2\"", "\"generation\": \"9\"")).find("\"9\""),
            std::string::npos);
  EXPECT_NE(refusal(with("      \"driver\": \"12.6\",\n", "")).find("no driver"),
            std::string::npos);
  refusal("[]");
  refusal("schema = 1");
}

}  // namespace
}  // namespace teeny
