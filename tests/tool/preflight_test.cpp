#include "tool/preflight/preflight.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tool/package_support.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/preflight/report.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;
using teeny::test::code_of;
using teeny::test::ptx_of;
using teeny::test::TestPackage;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const auto& finding : findings) {
    text += std::to_string(finding.exit_code) + ": " + finding.text + "\n  " + finding.next + "\n";
  }
  return text;
}

// All of it is of that kind, there is some, and it says all these words.
void expect_findings(const std::vector<Finding>& findings, int code,
                     const std::vector<std::string>& words) {
  EXPECT_FALSE(findings.empty());
  for (const auto& finding : findings) EXPECT_EQ(finding.exit_code, code) << finding.text;
  for (const auto& word : words) {
    EXPECT_NE(text_of(findings).find(word), std::string::npos) << word << " in\n"
                                                               << text_of(findings);
  }
}

void expect_none(const std::vector<Finding>& findings) {
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

bool any_says(const std::vector<std::string>& notices, const std::string& word) {
  return std::any_of(notices.begin(), notices.end(), [&word](const std::string& notice) {
    return notice.find(word) != std::string::npos;
  });
}

BoardFacts facts_named(const std::string& board) { return facts_of(find_board(board)); }

BoardFacts with_driver(DriverVersion driver, const std::string& board = "jetson-orin-nano") {
  BoardFacts facts = facts_named(board);
  facts.board.generations.front().driver = driver;
  facts.board.generations.front().ptx_ceiling = ptx_ceiling(driver);
  return facts;
}

}  // namespace

TEST(Preflight, AWholePackageFitsItsBoard) {
  TestPackage package;
  package.add(ptx_of(Capability::sm_87, {7, 4}));
  package.add(code_of(Capability::sm_87, {12, 9, 86}));
  package.finish();
  std::vector<std::string> notices;
  for (const char* board : {"jetson-orin-nano", "jetson-orin-nano@7.2", "jetson-agx-orin@6.2"}) {
    expect_none(examine(package.path(), facts_named(board), &notices));
  }
  EXPECT_FALSE(any_says(notices, "compiles at every start")) << notices.front();
  // Of another chip's code: whatever else is wrong, that is told.
  ElfInfo elf = test::arm_program();
  elf.needs.clear();
  package.set_program(elf);
  package.finish();
  expect_findings(examine(package.path(), facts_named("jetson-xavier-nx")), 10,
                  {"Scale<float> has no code for jetson-xavier-nx@5.1", "8.7", "7.2"});
}

TEST(Preflight, EveryFileOfTheManifestIsLookedAt) {
  const auto harmed = [](const std::function<void(const fs::path&)>& harm) {
    TestPackage package;
    package.add(ptx_of(Capability::sm_87, {7, 4}));
    package.finish();
    harm(package.path());
    return examine(package.path(), facts_named("jetson-orin-nano"));
  };
  expect_none(harmed([](const fs::path&) {}));
  const fs::path manifest = PackageContents::path;
  expect_findings(harmed([](const fs::path& at) { fs::remove(at / "bin/app"); }), 15,
                  {"missing: bin/app"});
  expect_findings(harmed([](const fs::path& at) { write_file(at / "bin/other", "x"); }), 15,
                  {"extra: bin/other"});
  expect_findings(harmed([](const fs::path& at) {
                    for (const auto& file : fs::recursive_directory_iterator(at / "cache")) {
                      if (file.path().extension() == ".ptx") write_file(file.path(), "altered");
                    }
                  }),
                  15, {"altered: cache/Scale-"});
  expect_findings(harmed([](const fs::path& at) { fs::remove_all(at / "cache"); }), 15,
                  {"missing: cache/programs/app.json", "the cache is empty"});
  expect_findings(harmed([&](const fs::path& at) { fs::remove(at / manifest); }), 15,
                  {"is no package"});
  expect_findings(harmed([&](const fs::path& at) {
                    const std::string text = read_file(at / manifest);
                    write_file(at / manifest, text.substr(0, text.size() / 2));
                  }),
                  15, {"is damaged"});
}

TEST(Preflight, AnotherMachineIsToldOnce) {
  TestPackage package;
  package.add(ptx_of(Capability::sm_80, {7, 4}));
  package.finish();
  const auto findings = examine(package.path(), facts_named("rtx-desktop"));
  ASSERT_EQ(findings.size(), 1U) << text_of(findings);
  expect_findings(findings, 12, {"wanted a machine of aarch64", "rtx-desktop@22.04 is x86_64"});
  // A manifest that says otherwise than the program.
  ElfInfo elf = test::arm_program();
  elf.machine = elf_x86_64;
  package.set_program(elf);
  package.finish();
  expect_findings(examine(package.path(), facts_named("jetson-orin-nano")), 12,
                  {"bin/app: wanted a program for AArch64"});
  // A board without the loader of this C library.
  package.set_program(test::arm_program());
  package.finish();
  BoardFacts musl = facts_named("jetson-orin-nano");
  musl.has_loader = false;
  expect_findings(examine(package.path(), musl), 12, {"has no such loader"});
}

TEST(Preflight, LibrariesAreThoseOfThePackageAndOfTheBoard) {
  TestPackage package;
  ElfInfo elf = test::arm_program();
  elf.needed.emplace_back("libopencv_core.so.4.5");
  package.set_program(elf);
  package.add(ptx_of(Capability::sm_87, {7, 4}));
  package.finish();
  BoardFacts facts = facts_named("jetson-orin-nano");
  expect_findings(examine(package.path(), facts), 12, {"libopencv_core.so.4.5"});
  facts.libraries = {"libopencv_core.so.4.5"};
  expect_none(examine(package.path(), facts));
  facts.libraries = std::nullopt;
  fs::create_directories(package.path() / "lib");
  ElfInfo library = test::arm_program();
  library.interpreter.clear();
  write_file(package.path() / "lib" / "libopencv_core.so.4.5", test::elf_of(library));
  package.finish();
  expect_none(examine(package.path(), facts));
}

TEST(Preflight, AKernelIsWantedForEveryDeviceOfThePackage) {
  TestPackage package;
  package.set_devices({"cuda", "cpu"});
  package.add(ptx_of(Capability::sm_87, {7, 4}));
  package.finish();
  expect_findings(examine(package.path(), facts_named("jetson-orin-nano")), 15,
                  {"Scale<float> is not there for device cpu"});
}

TEST(Preflight, ABlockThatWantsMoreSharedMemoryThanThereIs) {
  TestPackage package;
  Artifact artifact = ptx_of(Capability::sm_80, {7, 0});
  artifact.info.shared_bytes = 164 * 1024;
  package.add(artifact);
  package.finish();
  expect_findings(examine(package.path(), facts_named("jetson-orin-nano")), 14,
                  {"Scale<float>: wanted 167936 bytes of shared memory a block", "166912"});
}

TEST(Preflight, TheDiskIsComparedWithAllFiles) {
  TestPackage package;
  package.add(ptx_of(Capability::sm_87, {7, 4}));
  package.finish();
  BoardFacts facts = facts_named("jetson-orin-nano");
  facts.from.disk = Origin::probed;
  facts.destination = "/opt/demo";
  facts.disk_free = mib / 2;
  expect_findings(examine(package.path(), facts), 14, {"free at /opt/demo", "512 KiB"});
  facts.disk_free = 2 * mib;
  expect_none(examine(package.path(), facts));
}

TEST(Preflight, WhatIsNotKnownIsANoticeAndNoVerdict) {
  TestPackage package;
  package.set_devices({"cuda", "cpu"});
  Artifact cpu = ptx_of(Capability::sm_87, {7, 4});
  cpu.info.kind = ArtifactKind::shared_object;
  cpu.info.capability.reset();
  cpu.info.ptx_version.reset();
  cpu.info.target = Target(CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", {}}).canonical();
  cpu.code =
      "\x7f"
      "ELF";
  package.add(cpu);
  package.add(ptx_of(Capability::sm_120, {8, 7}));
  package.finish();
  BoardFacts facts = facts_named("jetson-orin-nano");
  facts.from = {};
  facts.from.machine = Origin::probed;
  facts.board.generations.front().glibc.clear();
  facts.board.generations.front().glibcxx.clear();
  std::vector<std::string> notices;
  expect_none(examine(package.path(), facts, &notices));
  for (const char* word : {"C library of", "libstdc++ of", "kernels for cuda load",
                           "kernels for cpu load", "memory of"}) {
    EXPECT_TRUE(any_says(notices, word)) << word;
  }
  for (const auto& row : rows_of(facts)) {
    EXPECT_EQ(row.value.empty(), row.origin == Origin::unknown) << row.name;
  }
  // That there is no device is known, and something else.
  facts.from.gpu = facts.from.cpu = Origin::probed;
  facts.board.capability.reset();
  expect_findings(examine(package.path(), facts), 10, {"has none"});
}

TEST(Preflight, AllIsToldAndTheLowestCodeCounts) {
  TestPackage package;
  ElfInfo elf = test::arm_program();
  elf.needs.push_back({"libc.so.6", "GLIBC_2.38", {}});
  package.set_program(elf);
  package.declare_memory(1 << 20);
  package.add(ptx_of(Capability::sm_87, {8, 5}));
  package.finish();
  BoardFacts facts = facts_named("jetson-orin-nano");
  facts.memory_available = 0;
  PreflightReport report{"demo", facts, examine(package.path(), facts), {}};
  EXPECT_EQ(report.findings.size(), 3U) << text_of(report.findings);
  EXPECT_EQ(report.exit_code(), 11);
  const auto json = nlohmann::json::parse(as_json(report));
  EXPECT_EQ(json.at("schema"), "teeny-preflight/1");
  EXPECT_EQ(json.at("exit_code"), 11);
  EXPECT_EQ(json.at("findings").size(), 3U);
  EXPECT_EQ(json.at("facts").at("glibc").at("value"), "2.35");
  EXPECT_EQ(json.at("facts").at("glibc").at("from"), "board file");
  EXPECT_TRUE(json.at("facts").at("disk").at("value").is_null());
  report.findings.clear();
  EXPECT_EQ(report.exit_code(), 0);
}

// P01: each PTX against the driver's own ceiling, whatever else is there; equal passes, one minor
// above is refused with both numbers and the kernel's name.
TEST(Pains, P01_PreflightComparesEveryPtxWithTheDriver) {
  const struct {
    DriverVersion driver;
    PtxVersion ceiling;
    PtxVersion above;
  } rows[] = {{{11, 4}, {7, 4}, {7, 5}},
              {{12, 2}, {8, 2}, {8, 3}},
              {{12, 6}, {8, 5}, {8, 6}},
              {{13, 0}, {9, 0}, {9, 1}}};
  for (const auto& row : rows) {
    for (const bool beside_machine_code : {false, true}) {
      const BoardFacts facts = with_driver(row.driver);
      for (const bool fits : {true, false}) {
        TestPackage package;
        package.add(ptx_of(Capability::sm_87, fits ? row.ceiling : row.above));
        if (beside_machine_code) package.add(code_of(Capability::sm_87, {11, 8, 89}));
        package.finish();
        const auto findings = examine(package.path(), facts);
        if (fits) {
          expect_none(findings);
        } else {
          expect_findings(findings, finding_code::driver,
                          {"Scale<float>", "PTX " + row.above.name(), "driver " + row.driver.name(),
                           "PTX " + row.ceiling.name()});
        }
      }
    }
  }
}

// ... as its own text says: a description that says otherwise is of no use.
TEST(Pains, P01_PreflightReadsTheVersionInThePtxItself) {
  TestPackage package;
  Artifact artifact = ptx_of(Capability::sm_87, {7, 4});
  artifact.code = "// by hand\n.version 8.5\n.target sm_87\n";
  package.add(artifact);
  package.finish();
  expect_findings(examine(package.path(), facts_named("jetson-orin-nano")), 15,
                  {"found another .version in the text"});
}

// P05: on an integrated chip only machine code of exactly its capability counts; PTX of a lower one
// does, and what it costs is told.
TEST(Pains, P05_PreflightCountsNoMachineCodeOfAnotherChip) {
  const BoardFacts orin = facts_named("jetson-orin-nano@6.2");
  TestPackage alone;
  alone.add(code_of(Capability::sm_80, {12, 6, 85}));
  alone.finish();
  expect_findings(examine(alone.path(), orin), finding_code::capability,
                  {"Scale<float> has no code", "sm_80", "integrated"});
  TestPackage with_ptx;
  with_ptx.add(code_of(Capability::sm_80, {12, 6, 85}));
  with_ptx.add(ptx_of(Capability::sm_80, {7, 0}));
  with_ptx.finish();
  std::vector<std::string> notices;
  expect_none(examine(with_ptx.path(), orin, &notices));
  EXPECT_TRUE(any_says(notices,
                       "Scale<float>: PTX alone, which the driver of jetson-orin-nano@6.2 "
                       "compiles at every start"));
  EXPECT_TRUE(any_says(notices, "machine code of sm_80"));
  TestPackage exact;
  exact.add(code_of(Capability::sm_87, {12, 6, 85}));
  exact.finish();
  notices.clear();
  expect_none(examine(exact.path(), orin, &notices));
  EXPECT_FALSE(any_says(notices, "compiles at every start"));
}

// P30: what the program's own bytes ask of the C library, not what a manifest says.
TEST(Pains, P30_PreflightComparesTheCLibrary) {
  for (const auto& [version, board, fits] :
       {std::tuple{"GLIBC_2.35", "jetson-orin-nano@6.2", true},
        std::tuple{"GLIBC_2.36", "jetson-orin-nano@6.2", false},
        std::tuple{"GLIBC_2.39", "jetson-orin-nano@7.2", true},
        std::tuple{"GLIBC_2.40", "jetson-orin-nano@7.2", false}}) {
    TestPackage package;
    ElfInfo elf = test::arm_program();
    elf.needs.push_back({"libc.so.6", version, {}});
    package.set_program(elf);
    package.add(ptx_of(Capability::sm_87, {7, 4}));
    package.finish();
    const auto findings = examine(package.path(), facts_named(board));
    if (fits) {
      expect_none(findings);
    } else {
      expect_findings(findings, finding_code::c_library,
                      {"bin/app", version, "libc.so.6", board, "has up to GLIBC_2.3"});
    }
  }
}

// P31: libstdc++ as well.
TEST(Pains, P31_PreflightComparesTheCppLibrary) {
  const BoardFacts facts = facts_named("jetson-orin-nano@6.2");
  for (const auto& [version, fits] :
       {std::pair{"GLIBCXX_3.4.30", true}, std::pair{"GLIBCXX_3.4.31", false},
        std::pair{"CXXABI_1.3.13", true}, std::pair{"CXXABI_1.3.14", false}}) {
    TestPackage package;
    ElfInfo elf = test::arm_program();
    elf.needs.push_back({"libstdc++.so.6", version, {}});
    package.set_program(elf);
    package.add(ptx_of(Capability::sm_87, {7, 4}));
    package.finish();
    const auto findings = examine(package.path(), facts);
    if (fits) {
      expect_none(findings);
    } else {
      expect_findings(findings, finding_code::c_library, {version, "libstdc++.so.6"});
    }
  }
}

// P39: machine code, or a library of the toolkit, of a newer CUDA than the driver: which of the two
// to change is told.
TEST(Pains, P39_PreflightComparesRuntimeAndDriver) {
  const BoardFacts old = with_driver({12, 6});
  const BoardFacts young = with_driver({13, 0});
  TestPackage code;
  code.add(code_of(Capability::sm_87, {13, 0, 88}));
  code.finish();
  expect_findings(examine(code.path(), old), finding_code::driver,
                  {"ptxas 13.0.88", "driver 12.6",
                   "update the driver, or assemble with ptxas of "
                   "CUDA 12"});
  expect_none(examine(code.path(), young));
  for (const char* library : {"libcudart.so.13", "libcublas.so.13.1"}) {
    TestPackage package;
    ElfInfo elf = test::arm_program();
    elf.needed.emplace_back(library);
    package.set_program(elf);
    package.add(ptx_of(Capability::sm_87, {7, 4}));
    package.finish();
    for (BoardFacts facts : {old, young}) {
      facts.libraries = {library};
      const auto findings = examine(package.path(), facts);
      if (facts.board.chosen().driver == DriverVersion{13, 0}) {
        expect_none(findings);
      } else {
        expect_findings(findings, finding_code::driver,
                        {"bin/app", library, "CUDA 13.0 or later", "driver 12.6",
                         "update the board's driver, or build with the toolkit of CUDA 12"});
      }
    }
  }
}

// P47: what a program declares against what is available less the margin; undeclared is unknown.
TEST(Pains, P47_PreflightComparesDeclaredMemoryWithWhatIsAvailable) {
  BoardFacts facts = facts_named("jetson-orin-nano");
  facts.memory_total = 8000 * mib;
  facts.memory_available = 5000 * mib;  // of which 500 stay free
  const auto examined = [&](std::optional<std::uint64_t> peak,
                            std::vector<std::string>* notices = nullptr) {
    TestPackage package;
    if (peak) package.declare_memory(*peak);
    package.add(ptx_of(Capability::sm_87, {7, 4}));
    package.finish();
    return examine(package.path(), facts, notices);
  };
  expect_none(examined(4500 * mib));
  expect_findings(examined(4500 * mib + 1), finding_code::space,
                  {"bin/app: wanted 4501 MiB of device memory", "has 5000 MiB available"});
  // Unknown, on any board: said, and no finding.
  facts.memory_available = 0;
  std::vector<std::string> notices;
  expect_none(examined(std::nullopt, &notices));
  EXPECT_TRUE(any_says(notices, "bin/app: the program does not declare its device memory"));
  expect_findings(examined(1), finding_code::space, {"wanted 1 MiB"});
}
