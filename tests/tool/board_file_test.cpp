#include "tool/boards/board_file.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

const std::string good = R"(schema = 1
name = "bench"
description = "a test board"
triple = "aarch64-linux-gnu"
cpu = "cortex-a78ae"
memory_mib = 1000
[cuda]
capability = "sm_87"
integrated = true
multiprocessors = 8
shared_memory_kib = 163
target_directory = "aarch64-linux"
[[generation]]
name = "1"
os = "Debian 12"
glibc = "2.36"
glibcxx = "3.4.30"
driver = "12.2"
[[generation]]
name = "2"
os = "Debian 13"
glibc = "2.41"
glibcxx = "3.4.33"
driver = "13.0"
target_directory = "sbsa-linux"
)";

std::string replaced(std::string from, const std::string& to) {
  std::string text = good;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Error error_of(const std::string& text) {
  try {
    static_cast<void>(parse_board(text, "some where/b.toml"));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for:\n" << text;
  return Error(ErrorKind::internal, "");
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
  const Error error = error_of(text);
  EXPECT_EQ(error.kind(), ErrorKind::input);
  for (const auto& part : parts) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << "\nin: " << error.message();
  }
}

Error usage_of(const std::string& target) {
  try {
    static_cast<void>(find_board(target));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error for " << target;
  return Error(ErrorKind::internal, "");
}

}  // namespace

TEST(BoardFile, ReadsEveryField) {
  const Board board = parse_board(good, "b.toml");
  EXPECT_EQ(board.name, "bench");
  EXPECT_EQ(board.triple, "aarch64-linux-gnu");
  EXPECT_EQ(board.cpu, "cortex-a78ae");
  EXPECT_EQ(board.memory_mib, 1000);
  ASSERT_TRUE(board.capability);
  EXPECT_EQ(*board.capability, Capability::sm_87);
  EXPECT_TRUE(board.integrated);
  EXPECT_EQ(board.multiprocessors, 8);
  EXPECT_EQ(board.shared_memory_kib, 163);
  EXPECT_EQ(board.cuda_target_directory, "aarch64-linux");
  ASSERT_EQ(board.generations.size(), 2U);
  EXPECT_EQ(board.full_name(), "bench@1");
  EXPECT_EQ(board.generations[0].ptx_ceiling->name(), "8.2");
  EXPECT_EQ(board.generations[1].driver->name(), "13.0");
}

TEST(BoardFile, NamesFileLineKeyAndWhatWasFound) {
  expect_error(replaced("memory_mib = 1000", "memory_mib = \"much\""),
               {"some where/b.toml:6", "memory_mib", "whole number", "much"});
  expect_error(replaced("glibc = \"2.36\"", "glibc = \"new\""),
               {"glibc", "generation[0]", "\"new\""});
  expect_error(replaced("glibcxx = \"3.4.30\"", "glibcxx = \"3.4\""), {"glibcxx", "\"3.4\""});
  expect_error(replaced("capability = \"sm_87\"", "capability = \"sm_88x\""),
               {"cuda.capability", "sm_88x", "sm_87"});
  expect_error(replaced("driver = \"12.2\"", "driver = \"new\""), {"driver", "\"new\""});
  expect_error(replaced("driver = \"12.2\"\n", ""), {"driver", "missing"});
  expect_error(replaced("triple = \"aarch64-linux-gnu\"", "triple = \"mips\""), {"triple", "mips"});
  expect_error(replaced("integrated = true", "integrated = 1"),
               {"cuda.integrated", "true or false"});
  expect_error(replaced("name = \"2\"", "name = \"1\""), {"generation[1].name", "repeats"});
  expect_error(replaced("schema = 1", "schema = 9"), {"schema", "9"});
  expect_error(replaced("name = \"bench\"", "name = \"Bench 1\""), {"name", "Bench 1"});
  expect_error(replaced("name = \"bench\"", "name = \"../x\""), {"name", "../x"});
}

TEST(BoardFile, RefusesUnknownKeysAndSaysTheNearest) {
  expect_error(replaced("memory_mib", "memory_mb"), {"memory_mib"});
  expect_error(good + "colour = \"red\"\n", {"colour", "no key"});
  expect_error(replaced("shared_memory_kib = 163", "shared_memory_kib = 163\nclock = 3"),
               {"cuda.clock", "no key"});
}

TEST(BoardFile, RefusesWhatIsNotToml) {
  expect_error("name = \n", {"some where/b.toml:1", "not TOML"});
  expect_error("", {"schema", "missing"});
}

TEST(BoardFile, WithoutCudaTakesNoDriver) {
  expect_error(
      R"(schema = 1
name = "bench"
description = "d"
triple = "aarch64-linux-gnu"
cpu = "generic"
memory_mib = 1
[[generation]]
name = "1"
os = "o"
glibc = "2.36"
glibcxx = "3.4.30"
driver = "12.2"
)",
      {"driver", "no [cuda]"});
}

TEST(Boards, EveryShippedFileIsSound) {
  const auto boards = shipped_boards();
  std::vector<std::string> names;
  for (const auto& board : boards) {
    names.push_back(board.name);
    EXPECT_FALSE(board.description.empty());
    if (!board.capability) continue;
    const auto* info = find_capability(*board.capability);
    ASSERT_NE(info, nullptr) << board.name;
    EXPECT_EQ(info->integrated, board.integrated) << board.name;
    EXPECT_EQ(info->max_shared_per_block_kib, board.shared_memory_kib) << board.name;
    for (const auto& generation : board.generations) {
      EXPECT_GE(*generation.ptx_ceiling, info->ptx_floor) << board.name << "@" << generation.name;
    }
    // What the board's own kernels need is no conflict with it.
    EXPECT_EQ(conflict(board, Target(*board.capability)), std::nullopt) << board.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"generic-aarch64", "h200-server", "jetson-agx-orin",
                                             "jetson-agx-thor", "jetson-orin-nano",
                                             "jetson-orin-nx", "jetson-xavier-nx", "rtx-desktop"}));
  for (const auto& entry : fs::directory_iterator(boards_directory())) {
    EXPECT_EQ(read_board_file(entry.path()).name, entry.path().stem().string());
  }
}

TEST(Boards, EveryGenerationOfEveryBoardIsFoundByItsName) {
  for (const auto& board : shipped_boards()) {
    EXPECT_EQ(board.full_name(), board.name + "@" + board.generations.front().name);
    for (std::size_t i = 0; i < board.generations.size(); ++i) {
      const std::string name = board.name + "@" + board.generations[i].name;
      const Board found = find_board(name);
      EXPECT_EQ(found.full_name(), name);
      EXPECT_EQ(found.generation, i);
      EXPECT_EQ(found.capability.has_value(), found.chosen().driver.has_value()) << name;
      EXPECT_EQ(find_board((boards_directory() / (board.name + ".toml")).string() + "@" +
                           board.generations[i].name)
                    .full_name(),
                name);
    }
  }
}

// P34: which folder of the CUDA toolkit a board's libraries are in is written in its file, for each
// generation: two names until CUDA 12, one since 13.
TEST(Pains, P34_EveryBoardSaysItsCudaTargetDirectory) {
  int split = 0;
  for (const auto& board : shipped_boards()) {
    if (!board.capability) continue;
    for (const auto& generation : board.generations) {
      const Board chosen = find_board(board.name + "@" + generation.name);
      std::string wanted = "x86_64-linux";
      if (board.triple == "aarch64-linux-gnu") {
        wanted = board.integrated && generation.driver->major < 13 ? "aarch64-linux" : "sbsa-linux";
      }
      EXPECT_EQ(chosen.cuda_target_directory, wanted) << chosen.full_name();
      split += wanted == "aarch64-linux" ? 1 : 0;
    }
  }
  EXPECT_GT(split, 3);
}

TEST(Boards, AreFoundByNameGenerationAndFile) {
  EXPECT_EQ(find_board("jetson-orin-nano").full_name(), "jetson-orin-nano@6.0");
  const Board later = find_board("jetson-orin-nano@7.2");
  EXPECT_EQ(later.full_name(), "jetson-orin-nano@7.2");
  EXPECT_EQ(later.cuda_target_directory, "sbsa-linux");
  EXPECT_EQ(find_board("jetson-orin-nano@6.2").cuda_target_directory, "aarch64-linux");
  const TemporaryDirectory directory("boards @ 'é$");
  const fs::path file = directory.path() / "my board@x.toml";
  write_file(file, good);
  EXPECT_EQ(find_board(file.string()).full_name(), "bench@1");
  EXPECT_EQ(find_board(file.string() + "@2").full_name(), "bench@2");
}

TEST(Boards, SayTheChoicesForWhatIsNotThere) {
  for (const char* target :
       {"jetson-orin", "jetson-orin-nano@9", "/no/such.toml", "x.toml", "", "@6.0"}) {
    const Error error = usage_of(target);
    EXPECT_EQ(error.exit_code(), 2) << target;
    EXPECT_NE(error.next().find(std::string(target).find("@9") == std::string::npos
                                    ? "jetson-orin-nano"
                                    : "6.0, 6.1, 6.2, 7.2"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NE(usage_of("jetson-orin-nona").message().find("did you mean jetson-orin-nano"),
            std::string::npos);
}
