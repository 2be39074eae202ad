#include "runtime/flags.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"

namespace teeny::detail {
namespace {

std::string refusal(const std::vector<std::string>& words) {
  try {
    static_cast<void>(take_flags(words));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.message();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(Flags, APlainRunsArgumentsStayAsTheyAre) {
  const std::vector<std::string> words = {"-v",       "--devices",  "",  "a b",
                                          "--onward", "--option=x", "-", "é"};
  const Flags flags = take_flags(words);
  EXPECT_EQ(flags.rest, words);
  EXPECT_TRUE(flags.devices.empty());
  EXPECT_FALSE(flags.on || flags.cache_directory || flags.force || flags.list || flags.help);
}

TEST(Flags, OptionsBelongToTheDeviceBeforeThem) {
  const Flags flags = take_flags(
      {"--device", "cuda", "--options", "capability=sm_87,ptx-version=82", "x", "--device=cpu",
       "--force", "--cache-dir", "a dir", "--device", "cuda", "--options=capability=sm_90"});
  ASSERT_EQ(flags.devices.size(), 3u);
  EXPECT_EQ(flags.devices[0].device, "cuda");
  EXPECT_EQ(flags.devices[0].options, "capability=sm_87,ptx-version=82");
  EXPECT_EQ(flags.devices[1].device, "cpu");
  EXPECT_FALSE(flags.devices[1].options);
  EXPECT_EQ(flags.devices[2].options, "capability=sm_90");
  EXPECT_TRUE(flags.force);
  EXPECT_EQ(flags.cache_directory, "a dir");
  EXPECT_EQ(flags.rest, std::vector<std::string>{"x"});
}

TEST(Flags, ValuesAreTakenByteForByte) {
  const std::string odd = "a=b, 'c' \"d\" $e\\,--f";
  EXPECT_EQ(take_flags({"--device", "cuda", "--options", odd}).devices[0].options, odd);
  EXPECT_EQ(take_flags({"--device", "cuda", "--options=" + odd}).devices[0].options, odd);
  EXPECT_EQ(take_flags({"--on", "--list"}).on, "--list");
}

TEST(Flags, TwoDashesEndThem) {
  const Flags flags = take_flags({"--on", "cpu", "a", "--", "--on", "cuda", "--", "--list"});
  EXPECT_EQ(flags.on, "cpu");
  EXPECT_EQ(flags.rest, (std::vector<std::string>{"a", "--on", "cuda", "--", "--list"}));
}

TEST(Flags, CheckAndInspect) {
  const Flags check = take_flags({"--check", "--board=a board.json", "--cache-dir", "c", "x"});
  EXPECT_TRUE(check.check);
  EXPECT_EQ(check.board, "a board.json");
  EXPECT_EQ(check.rest, std::vector<std::string>{"x"});
  EXPECT_EQ(take_flags({"--inspect", "Blur<float, 4>"}).inspect, "Blur<float, 4>");
}

TEST(Flags, MistakesNameTheFlag) {
  EXPECT_NE(refusal({"--device"}).find("--device"), std::string::npos);
  EXPECT_NE(refusal({"--options", "x=y"}).find("--options"), std::string::npos);
  EXPECT_NE(refusal({"--device", "cpu", "--options", "a", "--options", "b"}).find("--options"),
            std::string::npos);
  EXPECT_NE(refusal({"--force"}).find("--force"), std::string::npos);
  EXPECT_NE(refusal({"--cache-dir", "a", "--cache-dir", "b"}).find("--cache-dir"),
            std::string::npos);
  EXPECT_NE(refusal({"--cache-dir", ""}).find("--cache-dir"), std::string::npos);
  EXPECT_NE(refusal({"--on", "cpu", "--device", "cpu"}).find("--on"), std::string::npos);
  EXPECT_NE(refusal({"--list", "--device", "cpu"}).find("--list"), std::string::npos);
  EXPECT_NE(refusal({"--check", "--list"}).find("--check"), std::string::npos);
  EXPECT_NE(refusal({"--check", "--on", "cpu"}).find("--on"), std::string::npos);
  EXPECT_NE(refusal({"--device-facts", "--check"}).find("--device-facts"), std::string::npos);
  EXPECT_NE(refusal({"--inspect", "A", "--check"}).find("--inspect"), std::string::npos);
  EXPECT_NE(refusal({"--inspect", "A", "--inspect", "B"}).find("--inspect"), std::string::npos);
  EXPECT_NE(refusal({"--inspect"}).find("--inspect"), std::string::npos);
  EXPECT_NE(refusal({"--board", "b.json"}).find("--check"), std::string::npos);
}

TEST(Flags, TheHelpNamesThemAll) {
  for (const char* flag : {"--device", "--options", "--force", "--cache-dir", "--list", "--on",
                           "--check", "--board", "--inspect", "--device-facts"}) {
    EXPECT_NE(flags_help().find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace teeny::detail
