#include "teeny/target/assembler.hpp"

#include <gtest/gtest.h>

#include "teeny/target/loading.hpp"

namespace teeny {
namespace {

constexpr AssemblerVersion cuda_11{11, 8, 89};
constexpr AssemblerVersion cuda_12{12, 9, 86};
constexpr AssemblerVersion cuda_13{13, 0, 88};
const std::vector<AssemblerVersion> all = {cuda_11, cuda_12, cuda_13};

std::string chosen(const std::vector<AssemblerVersion>& installed, DriverVersion driver,
                   Capability capability, std::optional<PtxVersion> version = std::nullopt) {
  const auto at = choose_assembler(installed, driver, capability, version);
  return at ? installed.at(*at).name() : "none";
}

TEST(AssemblerVersion, ReadsBackWhatItWrites) {
  EXPECT_EQ(AssemblerVersion::parse("12.9.86"), cuda_12);
  EXPECT_EQ(AssemblerVersion::parse("13.0.88")->name(), "13.0.88");
  EXPECT_EQ(parse_assembler("ptxas 12.9.86"), cuda_12);
  EXPECT_EQ(parse_assembler(assembler_name(cuda_11)), cuda_11);
  for (const char* text : {"", "12", "12.9", "12.9.", "12.9.86.1", "12.9.x", "-1.2.3", "012.9.86",
                           "12..86", "12.9.86 ", "99999.1.1"}) {
    EXPECT_EQ(AssemblerVersion::parse(text), std::nullopt) << text;
    EXPECT_EQ(parse_assembler(std::string("ptxas ") + text), std::nullopt) << text;
  }
  for (const char* name : {"12.9.86", "ptxas12.9.86", "nvcc 12.9.86", "ptxas", "ptxas "}) {
    EXPECT_EQ(parse_assembler(name), std::nullopt) << name;
  }
}

TEST(AssemblerTable, IsInOrderAndEveryCapabilityHasOne) {
  const auto& table = known_assemblers();
  for (std::size_t i = 1; i < table.size(); ++i) {
    EXPECT_EQ(table[i].major, table[i - 1].major + 1);
    EXPECT_LT(table[i - 1].lowest, table[i].lowest);
    EXPECT_LE(table[i - 1].abi.version, table[i].abi.version);
  }
  for (const AssemblerInfo& row : table) {
    EXPECT_EQ(row.oldest_driver, (DriverVersion{row.major, 0}));
    EXPECT_FALSE(row.wheel.empty());
  }
  for (const auto& chip : known_capabilities()) {
    EXPECT_TRUE(wanted_assembler(newest_driver(), chip.capability, std::nullopt))
        << chip.capability.name();
  }
}

TEST(AssemblerTable, WhatWasMeasured) {
  EXPECT_EQ(highest_ptx(cuda_11), (PtxVersion{7, 8}));
  EXPECT_EQ(highest_ptx(cuda_12), (PtxVersion{8, 8}));
  EXPECT_EQ(highest_ptx(cuda_13), (PtxVersion{9, 0}));
  EXPECT_EQ(highest_ptx(AssemblerVersion{10, 2, 89}), std::nullopt);
  EXPECT_EQ(elf_abi(cuda_11, Capability::sm_72), (ElfAbi{0x33, 7}));
  EXPECT_EQ(elf_abi(cuda_12, Capability::sm_72), (ElfAbi{0x33, 7}));
  EXPECT_EQ(elf_abi(cuda_12, Capability::sm_90a), (ElfAbi{0x33, 7}));
  EXPECT_EQ(elf_abi(cuda_12, Capability::sm_120), (ElfAbi{0x41, 8}));
  EXPECT_EQ(elf_abi(cuda_13, Capability::sm_87), (ElfAbi{0x41, 8}));
  EXPECT_EQ(elf_abi(cuda_13, Capability::sm_72), std::nullopt);
  EXPECT_EQ(elf_abi({10, 2, 89}, Capability::sm_72), std::nullopt);
}

TEST(Assembles, BothEndsOfEachRelease) {
  std::string why;
  EXPECT_TRUE(assembles(cuda_11, Capability::sm_72, {6, 1}));
  EXPECT_TRUE(assembles(cuda_12, Capability::sm_72, {6, 1}));
  EXPECT_FALSE(assembles(cuda_13, Capability::sm_72, {6, 1}, &why));
  EXPECT_EQ(why, "wanted an assembler for sm_72, found ptxas 13.0.88, which begins at sm_75");
  EXPECT_TRUE(assembles(cuda_11, Capability::sm_90, {7, 8}));
  EXPECT_FALSE(assembles(cuda_11, Capability::sm_90a, {8, 0}, &why));
  EXPECT_EQ(why,
            "wanted an assembler that reads PTX 8.0, found ptxas 11.8.89, which reads up to PTX "
            "7.8");
  EXPECT_FALSE(assembles(cuda_12, Capability::sm_110, {8, 8}, &why));
  EXPECT_EQ(why,
            "wanted an assembler that reads PTX 9.0, the floor of sm_110, found ptxas 12.9.86, "
            "which reads up to PTX 8.8");
  EXPECT_TRUE(assembles(cuda_13, Capability::sm_110, {9, 0}));
  EXPECT_FALSE(assembles({12, 6, 85}, Capability::sm_120, {8, 7}));
  EXPECT_FALSE(assembles({10, 2, 89}, Capability::sm_72, {6, 1}, &why));
  EXPECT_EQ(why, "wanted ptxas of CUDA 11.4 or later, found ptxas 10.2.89");
}

TEST(ChooseAssembler, TheNewestMajorThatTheDriverTakes) {
  EXPECT_EQ(chosen(all, {12, 2}, Capability::sm_87), "12.9.86");
  EXPECT_EQ(chosen(all, {12, 6}, Capability::sm_87, PtxVersion{8, 5}), "12.9.86");
  EXPECT_EQ(chosen(all, {13, 2}, Capability::sm_87), "13.0.88");
  EXPECT_EQ(chosen(all, {11, 4}, Capability::sm_87), "11.8.89");
  EXPECT_EQ(chosen(all, {11, 4}, Capability::sm_72), "11.8.89");
  // CUDA 13 assembles nothing for Xavier any more.
  EXPECT_EQ(chosen(all, {13, 0}, Capability::sm_72), "12.9.86");
  // What is installed decides, and within one major its place.
  EXPECT_EQ(chosen({cuda_11}, {12, 6}, Capability::sm_87), "11.8.89");
  EXPECT_EQ(chosen({cuda_11}, {12, 6}, Capability::sm_87, PtxVersion{8, 0}), "none");
  EXPECT_EQ(chosen({cuda_13}, {12, 6}, Capability::sm_87), "none");
  EXPECT_EQ(chosen({}, {12, 6}, Capability::sm_87), "none");
  EXPECT_EQ(chosen({cuda_12, {12, 9, 99}}, {12, 6}, Capability::sm_87), "12.9.86");
  EXPECT_EQ(chosen({{12, 4, 1}, cuda_12}, {12, 6}, Capability::sm_87, PtxVersion{8, 5}), "12.9.86");
}

TEST(ChooseAssembler, SaysWhichOneWouldDo) {
  EXPECT_EQ(wanted_assembler({12, 2}, Capability::sm_87, std::nullopt), "ptxas of CUDA 12 or 11");
  EXPECT_EQ(wanted_assembler({12, 6}, Capability::sm_87, PtxVersion{8, 5}), "ptxas of CUDA 12");
  EXPECT_EQ(wanted_assembler({13, 0}, Capability::sm_110, std::nullopt), "ptxas of CUDA 13");
  EXPECT_EQ(wanted_assembler({13, 0}, Capability::sm_72, std::nullopt), "ptxas of CUDA 12 or 11");
  EXPECT_EQ(wanted_assembler({12, 6}, Capability::sm_110, std::nullopt), std::nullopt);
}

// Over all drivers, capabilities and versions: what is chosen loads where it was chosen for, no
// newer major could have been taken, and what no choice is made for cannot be made.
TEST(ChooseAssembler, WhatIsChosenLoads) {
  int choices = 0;
  for (int number = 1104; number <= 1302; number += number % 100 == 9 ? 91 : 1) {
    const DriverVersion driver{number / 100, number % 100};
    for (const auto& chip : known_capabilities()) {
      for (int ptx = 60; ptx <= 90; ++ptx) {
        const PtxVersion version{ptx / 10, ptx % 10};
        if (!version.published()) continue;
        const auto at = choose_assembler(all, driver, chip.capability, version);
        EXPECT_EQ(at.has_value(), wanted_assembler(driver, chip.capability, version).has_value())
            << driver.name() << " " << chip.capability.name() << " " << version.name();
        const DeviceFacts device{chip.capability, driver, chip.integrated};
        for (std::size_t i = 0; i < all.size(); ++i) {
          const MachineCode code{chip.capability, all[i],
                                 elf_abi(all[i], chip.capability).value_or(ElfAbi{}).version};
          const bool possible =
              assembles(all[i], chip.capability, version) && all[i].major <= driver.major;
          EXPECT_EQ(fit_machine_code(device, code) != Fit::no, all[i].major <= driver.major);
          EXPECT_TRUE(possible || !at || i != *at);
          EXPECT_TRUE(!possible || (at && i <= *at));
        }
        choices += at ? 1 : 0;
      }
    }
  }
  EXPECT_GT(choices, 1000);
}

}  // namespace
}  // namespace teeny
