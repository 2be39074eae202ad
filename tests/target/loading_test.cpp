#include "teeny/target/loading.hpp"

#include <gtest/gtest.h>

namespace teeny {
namespace {

constexpr DeviceFacts orin{Capability::sm_87, {12, 2}, true};
constexpr DeviceFacts hopper{Capability::sm_90, {13, 0}, false};
constexpr DeviceFacts ada{Capability::sm_89, {12, 6}, false};

std::string why_ptx(const DeviceFacts& device, Capability target, PtxVersion version) {
  std::string why;
  EXPECT_EQ(fit_ptx(device, target, version, &why), Fit::no);
  EXPECT_EQ(fit_ptx(device, target, version), Fit::no);
  EXPECT_EQ(why.find('\n'), std::string::npos);
  return why;
}

// Of an assembler that no driver here is too old for.
MachineCode code_of(Capability target) { return {target, {11, 8, 89}, 7}; }

std::string why_code(const DeviceFacts& device, const MachineCode& code) {
  std::string why;
  EXPECT_EQ(fit_machine_code(device, code, &why), Fit::no);
  EXPECT_EQ(fit_machine_code(device, code), Fit::no);
  EXPECT_EQ(why.find('\n'), std::string::npos);
  return why;
}

TEST(FitPtx, PlainTargetsLoadUpwards) {
  for (const auto& info : known_capabilities()) {
    if (info.capability.suffix() != Capability::Suffix::none) continue;
    const bool fits = info.capability.number() <= 90;
    EXPECT_EQ(fit_ptx(hopper, info.capability, info.ptx_floor), fits ? Fit::ptx : Fit::no)
        << info.capability.name();
  }
  EXPECT_EQ(why_ptx(orin, Capability::sm_89, {7, 8}),
            "wanted capability 8.9 or later for PTX of sm_89, device has 8.7");
}

TEST(FitPtx, BothBoundsOfTheVersion) {
  EXPECT_EQ(fit_ptx(orin, Capability::sm_87, {7, 4}), Fit::ptx);
  EXPECT_EQ(fit_ptx(orin, Capability::sm_87, {8, 2}), Fit::ptx);
  EXPECT_EQ(
      why_ptx(orin, Capability::sm_87, {8, 3}),
      "wanted a driver that loads PTX 8.3 (CUDA 12.3 or later), device has driver 12.2, whose "
      "ceiling is PTX 8.2");
  EXPECT_EQ(why_ptx(orin, Capability::sm_87, {7, 3}),
            "wanted PTX 7.4 or later, the floor of sm_87, the kernel has PTX 7.3");
  EXPECT_EQ(
      why_ptx({Capability::sm_87, {11, 2}, true}, Capability::sm_87, {7, 4}),
      "wanted a driver that loads PTX 7.4 (CUDA 11.4 or later), device has driver 11.2, older "
      "than any that teeny serves");
  EXPECT_EQ(why_ptx(hopper, Capability::sm_87, {9, 9}),
            "wanted a driver that loads PTX 9.9, device has driver 13.0, whose ceiling is PTX 9.0");
}

TEST(FitPtx, SuffixedTargets) {
  EXPECT_EQ(fit_ptx(hopper, Capability::sm_90a, {8, 0}), Fit::ptx);
  EXPECT_EQ(why_ptx({Capability::sm_100, {13, 0}}, Capability::sm_90a, {8, 0}),
            "wanted capability 9.0 exactly for PTX of sm_90a, device has 10.0");
  EXPECT_EQ(why_ptx(ada, Capability::sm_90a, {8, 0}),
            "wanted capability 9.0 exactly for PTX of sm_90a, device has 8.9");
  const Capability family(10, 0, Capability::Suffix::family);
  EXPECT_EQ(fit_ptx({Capability::sm_100, {13, 0}}, family, {8, 8}), Fit::ptx);
  EXPECT_EQ(fit_ptx({Capability::sm_103, {13, 0}}, family, {8, 8}), Fit::ptx);
  EXPECT_EQ(fit_ptx({Capability::sm_110, {13, 0}}, family, {8, 8}), Fit::no);
  EXPECT_EQ(fit_ptx(hopper, family, {8, 8}), Fit::no);
}

TEST(FitMachineCode, ExactlyOrDesktopsOfTheSameMajor) {
  EXPECT_EQ(fit_machine_code(orin, code_of(Capability::sm_87)), Fit::exact_machine_code);
  EXPECT_EQ(fit_machine_code(ada, code_of(Capability::sm_86)), Fit::compatible_machine_code);
  EXPECT_EQ(fit_machine_code(ada, code_of(Capability::sm_80)), Fit::compatible_machine_code);
  EXPECT_EQ(fit_machine_code(hopper, code_of(Capability::sm_90a)), Fit::exact_machine_code);
  EXPECT_EQ(fit_machine_code({Capability::sm_121, {13, 0}}, code_of(Capability::sm_120)),
            Fit::compatible_machine_code);
  EXPECT_EQ(why_code(orin, code_of(Capability::sm_80)),
            "wanted capability 8.0 exactly for machine code of sm_80, as the device is an "
            "integrated chip, device has 8.7");
  EXPECT_EQ(why_code(ada, code_of(Capability::sm_87)),
            "wanted capability 8.7 exactly for machine code of sm_87, an integrated chip, device "
            "has 8.9");
  EXPECT_EQ(why_code(ada, code_of(Capability::sm_90)),
            "wanted capability 9.x, x at least 0, for machine code of sm_90, device has 8.9");
  EXPECT_EQ(why_code({Capability::sm_80, {12, 0}}, code_of(Capability::sm_86)),
            "wanted capability 8.x, x at least 6, for machine code of sm_86, device has 8.0");
  EXPECT_EQ(fit_machine_code({Capability::sm_100, {13, 0}}, code_of(Capability::sm_90)), Fit::no);
}

TEST(FitMachineCode, NeverOfANewerMajorThanTheDriver) {
  EXPECT_EQ(fit_machine_code(orin, {Capability::sm_87, {12, 9, 86}, 7}), Fit::exact_machine_code);
  EXPECT_EQ(fit_machine_code(orin, {Capability::sm_87, {11, 8, 89}, 7}), Fit::exact_machine_code);
  EXPECT_EQ(why_code(orin, {Capability::sm_87, {13, 0, 88}, 8}),
            "wanted a driver of CUDA 13.0 or later for machine code of ptxas 13.0.88, device has "
            "driver 12.2: update the driver, or assemble with ptxas of CUDA 12");
  EXPECT_EQ(fit_machine_code({Capability::sm_87, {13, 2}, true}, {Capability::sm_87, {13, 0, 88}}),
            Fit::exact_machine_code);
}

TEST(FitMachineCode, TheElfHeaderIsBelievedBeforeTheName) {
  EXPECT_EQ(why_code(orin, {Capability::sm_87, {12, 9, 86}, 8}),
            "wanted ELF ABI 7 or lower for machine code of sm_87 on driver 12.2, the code has ABI "
            "8");
  const DeviceFacts blackwell{Capability::sm_120, {12, 8}};
  EXPECT_EQ(fit_machine_code(blackwell, {Capability::sm_120, {12, 9, 86}, 8}),
            Fit::exact_machine_code);
}

TEST(Fit, IsOrdered) {
  EXPECT_LT(Fit::no, Fit::ptx);
  EXPECT_LT(Fit::ptx, Fit::compatible_machine_code);
  EXPECT_LT(Fit::compatible_machine_code, Fit::exact_machine_code);
}

}  // namespace
}  // namespace teeny
