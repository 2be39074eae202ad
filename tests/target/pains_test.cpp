// Tests named after users' reports; each states the behaviour that was missing elsewhere.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/target/loading.hpp"
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

// Every published version, ascending.
std::vector<PtxVersion> published_versions() {
  std::vector<PtxVersion> versions;
  for (int number = 60; number <= 99; ++number) {
    const PtxVersion version{number / 10, number % 10};
    if (version.published()) versions.push_back(version);
  }
  return versions;
}

TEST(Pains, P01_EveryDriverTakesItsCeilingAndNothingAbove) {
  for (int number = 1104; number <= 1301; number += number % 100 == 9 ? 91 : 1) {
    const DriverVersion driver{number / 100, number % 100};
    const PtxVersion ceiling = ptx_ceiling(driver).value();
    for (const auto& chip : known_capabilities()) {
      const DeviceFacts device{chip.capability, driver, chip.integrated};
      for (const PtxVersion version : published_versions()) {
        if (version < chip.ptx_floor) continue;
        std::string why;
        const Fit fit = fit_ptx(device, chip.capability, version, &why);
        EXPECT_EQ(fit, version <= ceiling ? Fit::ptx : Fit::no)
            << driver.name() << " " << chip.capability.name() << " " << version.name();
        if (fit == Fit::ptx) continue;
        // Both numbers: the version that was wanted, and the driver's own.
        EXPECT_TRUE(says(why, "PTX " + version.name())) << why;
        EXPECT_TRUE(says(why, "driver " + driver.name())) << why;
        EXPECT_TRUE(says(why, "PTX " + ceiling.name())) << why;
      }
    }
  }
}

TEST(Pains, P05_AnIntegratedChipTakesNoMachineCodeButItsOwn) {
  int integrated = 0;
  for (const auto& chip : known_capabilities()) {
    if (!chip.integrated) continue;
    ++integrated;
    const DeviceFacts device{chip.capability, newest_driver(), true};
    for (const auto& target : known_capabilities()) {
      const MachineCode code{target.capability, {12, 9, 86}};
      std::string why;
      const bool exact = target.capability.number() == chip.capability.number();
      EXPECT_EQ(fit_machine_code(device, code, &why), exact ? Fit::exact_machine_code : Fit::no)
          << target.capability.name() << " on " << chip.capability.name();
      if (exact) continue;
      EXPECT_TRUE(says(why, target.capability.name())) << why;
      // Code for the integrated chip is of no use to others either.
      const DeviceFacts other{target.capability, newest_driver(), target.integrated};
      EXPECT_EQ(fit_machine_code(other, {chip.capability, {12, 9, 86}}), Fit::no)
          << chip.capability.name() << " on " << target.capability.name();
    }
  }
  EXPECT_EQ(integrated, 3);
  // The reports' own case: sm_80 code does not count on an Orin, PTX of compute_80 does.
  const DeviceFacts orin{Capability::sm_87, {12, 6}, true};
  EXPECT_EQ(fit_machine_code(orin, {Capability::sm_80, {12, 6, 85}}), Fit::no);
  EXPECT_EQ(fit_ptx(orin, Capability::sm_80, {7, 0}), Fit::ptx);
}

TEST(Pains, P39_MachineCodeOfANewerMajorThanTheDriverIsRefused) {
  for (const AssemblerInfo& row : known_assemblers()) {
    for (const int minor : {0, 9}) {
      const MachineCode code{Capability::sm_87, {row.major, minor, 1}};
      for (const AssemblerInfo& other : known_assemblers()) {
        for (const int driver_minor : {0, 4, 9}) {
          const DeviceFacts device{Capability::sm_87, {other.major, driver_minor}, true};
          std::string why;
          EXPECT_EQ(fit_machine_code(device, code, &why),
                    row.major <= other.major ? Fit::exact_machine_code : Fit::no)
              << row.major << " on " << other.major;
          if (row.major <= other.major) continue;
          EXPECT_TRUE(says(why, code.assembler.name())) << why;
          EXPECT_TRUE(says(why, "driver " + device.driver.name())) << why;
          EXPECT_TRUE(says(why, "update the driver, or assemble")) << why;
        }
      }
    }
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
