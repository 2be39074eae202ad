#include "tool/commands/devices.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tool/boards/board_file.hpp"

#include "teeny/base/error.hpp"

using namespace teeny;
using namespace teeny::tool;

namespace {

Error refused(const DeviceArgument& argument, const Board& board) {
  try {
    static_cast<void>(check_device_for_board(argument, board));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "");
}

}  // namespace

TEST(Devices, WhatIsMissingComesFromTheBoard) {
  ::unsetenv("TEENYC_PTX_VERSION");
  const Board orin = find_board("jetson-orin-nano");
  EXPECT_EQ(check_device_for_board({"cuda", "capability=sm_87,ptx-version=82"}, orin).options,
            "capability=sm_87,ptx-version=82,driver=12.2");
  EXPECT_EQ(check_device_for_board({"cuda", {}}, orin).options, "capability=sm_87,driver=12.2");
  EXPECT_EQ(check_device_for_board({"cuda", ""}, orin).appended,
            (std::vector<std::string>{"capability=sm_87", "driver=12.2"}));
  EXPECT_EQ(check_device_for_board({"cuda", "driver=12.1,capability=80"}, orin).options,
            "driver=12.1,capability=80,machine-code=no");
  EXPECT_EQ(check_device_for_board({"cpu", {}}, orin).options,
            "triple=aarch64-linux-gnu,cpu=cortex-a78ae");
  EXPECT_EQ(check_device_for_board({"cpu", "opt-level=3"}, orin).options,
            "opt-level=3,triple=aarch64-linux-gnu,cpu=cortex-a78ae");
  EXPECT_EQ(check_device_for_board({"cpu", "cpu=generic"}, find_board("generic-aarch64")).options,
            "cpu=generic");
  // ptx-version is the user's or the kernels', never the board's.
  for (const auto& board : shipped_boards()) {
    if (!board.capability) continue;
    EXPECT_EQ(check_device_for_board({"cuda", {}}, board).options.find("ptx-version"),
              std::string::npos);
  }
}

TEST(Devices, MachineCodeThatCouldNotLoadIsNotMade) {
  ::unsetenv("TEENYC_PTX_VERSION");
  const Board orin = find_board("jetson-orin-nano");
  // Not of another chip on an integrated one, nor of another major; PTX is what loads there.
  EXPECT_EQ(check_device_for_board({"cuda", "capability=sm_80"}, orin).options,
            "capability=sm_80,driver=12.2,machine-code=no");
  EXPECT_EQ(
      check_device_for_board({"cuda", "capability=sm_75"}, find_board("h200-server")).appended,
      (std::vector<std::string>{"driver=13.0", "machine-code=no"}));
  EXPECT_TRUE(check_device_for_board({"cuda", "capability=sm_80"}, find_board("rtx-desktop"))
                  .request.wants_machine_code());
  EXPECT_TRUE(check_device_for_board({"cuda", {}}, orin).request.wants_machine_code());
  EXPECT_EQ(check_device_for_board({"cuda", "machine-code=yes"}, orin).options,
            "machine-code=yes,capability=sm_87,driver=12.2");
  EXPECT_FALSE(
      check_device_for_board({"cuda", "machine-code=no"}, orin).request.wants_machine_code());
  // Nor when it is asked for.
  for (const char* options :
       {"capability=sm_80,machine-code=yes", "machine-code=auto,capability=sm_80"}) {
    const Error error = refused({"cuda", options}, orin);
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(error.message().find("integrated"), std::string::npos) << error.message();
  }
}

TEST(Devices, MachineCodeForANewerDriverThanTheBoardsIsAConflict) {
  ::unsetenv("TEENYC_PTX_VERSION");
  const Error error = refused({"cuda", "driver=13.0"}, find_board("jetson-orin-nano@6.2"));
  EXPECT_EQ(error.exit_code(), 2);
  EXPECT_NE(error.message().find("found driver=13.0"), std::string::npos) << error.message();
  EXPECT_NO_THROW(static_cast<void>(
      check_device_for_board({"cuda", "driver=13.0"}, find_board("jetson-orin-nano@7.2"))));
  EXPECT_NO_THROW(static_cast<void>(check_device_for_board({"cuda", "driver=13.0,machine-code=no"},
                                                           find_board("jetson-orin-nano@6.2"))));
}

TEST(Devices, ConflictsWithTheBoardAreUsageErrors) {
  ::unsetenv("TEENYC_PTX_VERSION");
  const Board orin = find_board("jetson-orin-nano");
  for (const char* options :
       {"capability=sm_89", "capability=sm_87,ptx-version=85", "capability=sm_90a",
        "capability=native", "capability=sm_88x", "capability=sm_87,ptx-version=73",
        "capability=sm_87,ptx-version=99", "speed=9", "capability=sm_87,,"}) {
    EXPECT_EQ(refused({"cuda", options}, orin).exit_code(), 2) << options;
  }
  EXPECT_NE(refused({"cuda", "capability=sm_89"}, orin).message().find("jetson-orin-nano@6.0"),
            std::string::npos);
  EXPECT_EQ(refused({"cpu", "cpu=x86-64-v3"}, orin).exit_code(), 2);
  EXPECT_EQ(refused({"cuda", "capability=sm_75"}, find_board("generic-aarch64")).exit_code(), 2);
  EXPECT_EQ(refused({"tpu", {}}, orin).exit_code(), 2);
  // What a later generation takes is said.
  EXPECT_NE(refused({"cuda", "capability=sm_87,ptx-version=85"}, orin).message().find("@6.1"),
            std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(check_device_for_board(
      {"cuda", "capability=sm_87,ptx-version=85"}, find_board("jetson-orin-nano@6.1"))));
}

TEST(Devices, TheEnvironmentIsHeardAndTheOptionWins) {
  const Board orin = find_board("jetson-orin-nano");
  ::setenv("TEENYC_PTX_VERSION", "99", 1);
  EXPECT_NE(refused({"cuda", {}}, orin).message().find("TEENYC_PTX_VERSION"), std::string::npos);
  EXPECT_NO_THROW(static_cast<void>(check_device_for_board({"cuda", "ptx-version=82"}, orin)));
  ::setenv("TEENYC_PTX_VERSION", "8.1", 1);
  EXPECT_EQ(check_device_for_board({"cuda", {}}, orin).request.target.cuda().ptx_version->name(),
            "8.1");
  ::setenv("TEENYC_PTX_VERSION", "", 1);
  EXPECT_FALSE(check_device_for_board({"cuda", {}}, orin).request.target.cuda().ptx_version);
  ::unsetenv("TEENYC_PTX_VERSION");
}

TEST(Devices, AreForwardedByteForByte) {
  EXPECT_EQ(forwarded({{"cuda", " a , 'b' \"c\""}, {"cpu", {}}, {"x", ""}}),
            (std::vector<std::string>{"--device", "cuda", "--options", " a , 'b' \"c\"", "--device",
                                      "cpu", "--device", "x", "--options", ""}));
}
