// Tests named after users' reports; each states the behaviour that was missing elsewhere.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/target/options.hpp"

namespace teeny {
namespace {

std::string refused(std::string_view device, std::string_view options) {
  try {
    static_cast<void>(parse_options(device, options, std::nullopt, std::nullopt));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << options;
    EXPECT_EQ(error.exit_code(), 2) << options;
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << options;
  return "";
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_lists_all(const std::string& text) {
  for (const auto& info : known_capabilities()) {
    EXPECT_TRUE(says(text, info.capability.name())) << text;
  }
}

TEST(Pains, P06_AnUnknownCapabilityNamesTheKnownAndTheNearestLower) {
  // Orin was refused elsewhere by a list of allowed names; here it is a row like any other.
  EXPECT_EQ(require_capability("capability", "sm_87"), Capability::sm_87);
  struct Case {
    const char* given;
    const char* nearest;
  };
  for (const auto& [given, nearest] :
       {Case{"sm_88", "sm_87"}, Case{"8.8", "sm_87"}, Case{"sm_95", "sm_90"}, Case{"101", "sm_100"},
        Case{"sm_100a", "sm_100"}, Case{"sm_103f", "sm_103"}, Case{"sm_130", "sm_121"},
        Case{"sm_89a", "sm_89"}}) {
    const auto text = refused("cuda", std::string("capability=") + given);
    EXPECT_TRUE(says(text, "nearest lower known capability is " + std::string(nearest) + " ("))
        << text;
    EXPECT_TRUE(says(text, "its PTX loads")) << text;
    expect_lists_all(text);
  }
  // Below the lowest there is none to name.
  const auto text = refused("cuda", "capability=sm_61");
  EXPECT_FALSE(says(text, "nearest")) << text;
  expect_lists_all(text);
}

TEST(Pains, P07_ABadCapabilityNamesTheOptionAndTheChoices) {
  const auto children = [] {
    // Every thread of ours lists its children here.
    std::string all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "children");
      std::string line;
      while (std::getline(file, line)) all += line;
    }
    return all;
  };
  const auto before = children();
  for (const char* given : {"sm_88x", "banana", "gfx942", "sm_", "8.77", "sm_9O"}) {
    const auto text = refused("cuda", std::string("capability=") + given);
    EXPECT_TRUE(says(text, std::string("--options capability=") + given)) << text;
    EXPECT_TRUE(says(text, "wanted a compute capability")) << text;
    expect_lists_all(text);
  }
  EXPECT_EQ(children(), before);
}

TEST(Pains, P10_NativeIsRefusedWithAdvice) {
  const auto text = refused("cuda", "capability=native");
  EXPECT_TRUE(says(text, "--options capability=native")) << text;
  EXPECT_TRUE(says(text, "--target")) << text;
  expect_lists_all(text);
  const auto of_cpu = refused("cpu", "cpu=native");
  EXPECT_TRUE(says(of_cpu, "--options cpu=native")) << of_cpu;
  EXPECT_TRUE(says(of_cpu, "cpu=host")) << of_cpu;
}

TEST(Pains, P09_CapabilityHasNoSilentDefault) {
  EXPECT_TRUE(says(refused("cuda", ""), "capability="));
  EXPECT_TRUE(says(refused("cpu", ""), "cpu="));
}

}  // namespace
}  // namespace teeny
