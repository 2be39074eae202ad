#include "tool/preflight/probe.hpp"

#include <gtest/gtest.h>

#include "tests/tool/fake_ssh.hpp"
#include "tests/tool/package_support.hpp"
#include "tool/boards/board_file.hpp"
#include "tool/preflight/board_toml.hpp"
#include "tool/preflight/l4t.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/process.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

std::vector<std::string> names(const std::vector<Board>& boards) {
  std::vector<std::string> result;
  for (const auto& board : boards) result.push_back(board.full_name());
  return result;
}
using Names = std::vector<std::string>;

// What an Orin NX with JetPack 6.2 answers.
ProbeAnswers orin_nx() {
  ProbeAnswers answers;
  answers.values = {
      {"machine", {"aarch64"}},
      {"os_ID", {"ubuntu"}},
      {"os_VERSION_ID", {"22.04"}},
      {"os_PRETTY_NAME", {"Ubuntu 22.04.5 LTS"}},
      {"l4t", {"# R36 (release), REVISION: 4.4, GCID: 1, BOARD: generic"}},
      {"model", {"NVIDIA Jetson Orin NX Engineering Reference Developer Kit"}},
      {"compatible", {"nvidia,p3768-0000+p3767-0000 nvidia,tegra234"}},
      {"cpuinfo", {"CPU implementer\t: 0x41", "CPU part\t: 0xd42"}},
      {"features", {"fp asimd crc32 atomics fphp asimdhp asimdrdm asimddp lrcpc"}},
      {"mem_total", {"16032000"}},
      {"mem_available", {"9000000"}},
      {"loader", {"/lib/ld-linux-aarch64.so.1"}},
      {"libc", {"GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.10) stable release version 2.35."}},
      {"libcuda", {"/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1"}},
      {"glibcxx", {"GLIBCXX_3.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.30"}},
      {"library", {"libc.so.6", "libnvinfer.so.10"}},
      {"destination", {"/home/nvidia"}},
      {"disk_free", {"1024"}}};
  return answers;
}

constexpr const char* orin_facts =
    R"({"schema": "teeny-device-facts/1", "devices": [{"name": "cuda:0", "description": "Orin",
        "capability": "sm_87", "driver": "12.8", "integrated": true, "shared_bytes": 166912,
        "multiprocessors": 7, "memory_total": 16416768000, "memory_free": 100}]})";

BoardFacts facts_from(const ProbeAnswers& answers) {
  return tool::facts_from(answers, "nvidia@Orin_1.local", shipped_boards());
}

bool any_says(const std::vector<std::string>& remarks, const std::string& word) {
  for (const auto& remark : remarks) {
    if (remark.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST(L4t, IsReadFromTheBoardsOwnLine) {
  EXPECT_EQ(parse_l4t("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic"), "R36.4.3");
  EXPECT_EQ(parse_l4t("# R36 (release), REVISION: 3.0"), "R36.3.0");
  EXPECT_EQ(parse_l4t("# R39 (release), REVISION: 2"), "R39.2");
  for (const char* text : {"", "R36.4.3", "# R36 (release)", "# R (release), REVISION: 4.3",
                           "# R36 (release), REVISION: x"}) {
    EXPECT_EQ(parse_l4t(text), std::nullopt) << text;
  }
}

TEST(L4t, TakesTheNewestRowThatIsNotNewer) {
  const auto orin_nano = std::vector{find_board("jetson-orin-nano")};
  const auto row = [&](const char* l4t) { return names(boards_of_l4t(l4t, orin_nano)); };
  EXPECT_EQ(row("R36.2.0"), Names{"jetson-orin-nano@6.0"});
  EXPECT_EQ(row("R36.3.0"), Names{"jetson-orin-nano@6.0"});
  EXPECT_EQ(row("R36.4.0"), Names{"jetson-orin-nano@6.1"});
  EXPECT_EQ(row("R36.4.3"), Names{"jetson-orin-nano@6.2"});
  EXPECT_EQ(row("R36.5.0"), Names{"jetson-orin-nano@6.2"});
  EXPECT_EQ(row("R39.2.1"), Names{"jetson-orin-nano@7.2"});
  EXPECT_EQ(row("R35.4.1"), Names{});
  EXPECT_EQ(row("R40.1"), Names{});
  EXPECT_EQ(names(boards_of_l4t("R35.4.1", shipped_boards())), Names{"jetson-xavier-nx@5.1"});
}

TEST(L4t, TheDeviceTreeTellsChipAndModule) {
  const auto both = boards_of_l4t("R39.2", shipped_boards());
  EXPECT_EQ(names(boards_of_device_tree("nvidia,tegra264", "", both)),
            Names{"jetson-agx-thor@7.2"});
  EXPECT_EQ(names(boards_of_device_tree("nvidia,p3701-0000 nvidia,tegra234",
                                        "NVIDIA Jetson AGX Orin Developer Kit", both)),
            Names{"jetson-agx-orin@7.2"});
  EXPECT_EQ(boards_of_device_tree("", "", both).size(), both.size());
  EXPECT_EQ(boards_of_device_tree("", "Some Carrier", both).size(), both.size());
}

TEST(Probe, ReadsWhatABoardSays) {
  ProbeAnswers answers = orin_nx();
  answers.device_facts = orin_facts;
  const BoardFacts facts = facts_from(answers);
  EXPECT_EQ(facts.name(), "orin_1.local@6.2");
  const Board& board = facts.board;
  EXPECT_EQ(board.triple, "aarch64-linux-gnu");
  EXPECT_EQ(board.cpu, "cortex-a78ae");
  EXPECT_EQ(board.capability, Capability::sm_87);
  EXPECT_EQ(board.multiprocessors, 7);  // its own word, not the board file's
  EXPECT_EQ(board.shared_memory_kib, 163);
  EXPECT_TRUE(board.integrated);
  EXPECT_EQ(board.cuda_target_directory, "aarch64-linux");
  EXPECT_EQ(board.chosen().glibc, "2.35");
  EXPECT_EQ(board.chosen().glibcxx, "3.4.30");
  EXPECT_EQ(board.chosen().l4t, "R36.4.4");
  // A Jetson may carry a newer driver than its release came with.
  EXPECT_EQ(board.chosen().driver, (DriverVersion{12, 8}));
  EXPECT_EQ(board.chosen().ptx_ceiling, (PtxVersion{8, 7}));
  // CPU and GPU share it: what Linux has free counts.
  EXPECT_EQ(facts.memory_total, std::uint64_t{16032000} * 1024);
  EXPECT_EQ(facts.memory_available, std::uint64_t{9000000} * 1024);
  EXPECT_EQ(facts.disk_free, std::uint64_t{1} << 20U);
  EXPECT_EQ(facts.has_loader, true);
  EXPECT_TRUE(facts.remarks.empty()) << facts.remarks.front();
  for (const auto& row : rows_of(facts)) EXPECT_EQ(row.origin, Origin::probed) << row.name;
}

TEST(Probe, WithoutTheDriversWordTheL4tTableAnswersAndSaysSo) {
  ProbeAnswers answers = orin_nx();
  answers.not_asked = "app ended with exit code 127 there";
  const BoardFacts facts = facts_from(answers);
  EXPECT_EQ(facts.board.capability, Capability::sm_87);
  EXPECT_EQ(facts.board.multiprocessors, 8);
  EXPECT_EQ(facts.board.chosen().driver, (DriverVersion{12, 6}));
  EXPECT_EQ(facts.from.gpu, Origin::l4t_table);
  EXPECT_EQ(facts.from.driver, Origin::l4t_table);
  EXPECT_TRUE(any_says(facts.remarks, "app ended with exit code 127"));
  EXPECT_TRUE(any_says(facts.remarks,
                       "sm_87 and driver 12.6 are what the board files say of L4T "
                       "R36.4.4 (jetson-orin-nx@6.2)"));
}

TEST(Probe, AnUnknownL4tWarnsAndIsNoError) {
  ProbeAnswers answers = orin_nx();
  answers.values["l4t"] = {"# R40 (release), REVISION: 1.0"};
  BoardFacts facts = facts_from(answers);
  EXPECT_EQ(facts.from.gpu, Origin::unknown);
  EXPECT_EQ(facts.from.driver, Origin::unknown);
  EXPECT_EQ(facts.name(), "orin_1.local@r40.1.0");
  EXPECT_TRUE(any_says(facts.remarks, "no shipped board file has a generation of L4T R40.1.0"));
  answers.device_facts = orin_facts;
  facts = facts_from(answers);
  EXPECT_EQ(facts.from.driver, Origin::probed);
  EXPECT_EQ(facts.board.chosen().driver, (DriverVersion{12, 8}));
}

TEST(Probe, ReadsAServerWithItsOwnDeviceMemory) {
  ProbeAnswers answers;
  answers.values = {
      {"machine", {"x86_64"}},      {"os_ID", {"ubuntu"}},
      {"os_VERSION_ID", {"24.04"}}, {"features", {"fpu avx2 fma bmi1 bmi2 f16c abm movbe"}},
      {"mem_total", {"1000"}},      {"mem_available", {"900"}},
      {"libc", {"glibc 2.39"}},     {"smi_cuda", {"13.0"}},
      {"smi_gpu", {"9.0, 143771"}}};
  BoardFacts facts = facts_from(answers);
  EXPECT_EQ(facts.board.cpu, "x86-64-v3");
  EXPECT_EQ(facts.board.capability, Capability::sm_90);
  EXPECT_FALSE(facts.board.integrated);
  EXPECT_EQ(facts.board.chosen().driver, (DriverVersion{13, 0}));
  EXPECT_EQ(facts.board.chosen().glibc, "2.39");
  EXPECT_EQ(facts.memory_total, std::uint64_t{143771} << 20U);
  EXPECT_EQ(facts.name(), "orin_1.local@ubuntu-24.04");
  EXPECT_EQ(facts.from.glibcxx, Origin::unknown);
  EXPECT_EQ(facts.has_loader, false);
  // No driver, no library of one, no Jetson: no CUDA device, and that is known.
  answers.values.erase("smi_cuda");
  answers.values.erase("smi_gpu");
  facts = facts_from(answers);
  EXPECT_EQ(facts.from.gpu, Origin::probed);
  EXPECT_FALSE(facts.board.capability);
  EXPECT_EQ(facts.memory_total, std::uint64_t{1000} * 1024);
}

TEST(Probe, SurvivesAnswersOfAnyShape) {
  EXPECT_EQ(facts_from({}).name(), "orin_1.local@live");
  for (const char* text : {"{", "[]", "{\"devices\": 3}", "{\"devices\": [{}]}", "\xff"}) {
    ProbeAnswers answers = orin_nx();
    answers.device_facts = text;
    EXPECT_EQ(facts_from(answers).from.driver, Origin::l4t_table) << text;
  }
  ProbeAnswers odd;
  for (const auto& [key, values] : orin_nx().values) odd.values[key] = {"\xff = \n ,.", ""};
  EXPECT_EQ(facts_from(odd).from.glibc, Origin::unknown);
}

TEST(BoardToml, IsReadBackAsWhatWasProbed) {
  ProbeAnswers answers = orin_nx();
  answers.device_facts = orin_facts;
  answers.values["os_PRETTY_NAME"] = {"An \"odd\" \\ name \xc3\xa9"};
  const BoardFacts facts = facts_from(answers);
  const Board read = parse_board(board_to_toml(facts), "probed.toml");
  EXPECT_EQ(read.full_name(), facts.name());
  EXPECT_EQ(read.capability, facts.board.capability);
  EXPECT_EQ(read.multiprocessors, 7);
  EXPECT_EQ(read.memory_mib, facts.board.memory_mib);
  EXPECT_EQ(read.chosen().driver, facts.board.chosen().driver);
  EXPECT_EQ(read.chosen().glibcxx, "3.4.30");
  EXPECT_EQ(read.chosen().l4t, "R36.4.4");
  EXPECT_EQ(read.sysroot_directories, facts.board.sysroot_directories);
  EXPECT_EQ(read.cuda_target_directory, "aarch64-linux");
  answers.device_facts.clear();
  EXPECT_NE(board_to_toml(facts_from(answers)).find("driver = \"12.6\" # L4T table"),
            std::string::npos);
  answers.values.erase("libc");
  try {
    static_cast<void>(board_to_toml(facts_from(answers)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("does not tell its glibc"), std::string::npos)
        << error.message();
  }
}

TEST(Probe, AsksThisMachineThroughAnSsh) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  const BoardFacts facts = probe(transport, {ssh.directory().string() + "/not there yet", {}});
  EXPECT_EQ(facts.board.triple, host_architecture() + "-linux-gnu");
  EXPECT_EQ(facts.from.glibc, Origin::probed);
  EXPECT_EQ(facts.from.glibcxx, Origin::probed);
  EXPECT_EQ(facts.from.cpu, Origin::probed);
  EXPECT_EQ(facts.has_loader, true);
  EXPECT_GT(facts.memory_total.value_or(0), facts.memory_available.value_or(0));
  EXPECT_GT(facts.disk_free.value_or(0), 0U);
  EXPECT_EQ(facts.destination, ssh.directory().string() + "/not there yet");
}

TEST(Probe, AProgramIsAskedAndRemovedAgain) {
  const TemporaryDirectory directory("probe");
  const FakeSsh ssh("TMPDIR='" + directory.path().string() + "'; export TMPDIR\n" +
                    FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  // An ELF file of this machine that cannot start: the answer is why, and nothing is left there.
  const auto leftovers = [] {
    std::size_t count = 0;
    for (const char* place : {"/dev/shm", "/tmp"}) {
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(place, ignored)) {
        count += entry.path().filename().string().rfind("teeny-probe.", 0) == 0 ? 1U : 0U;
      }
    }
    return count;
  };
  const auto before = leftovers();
  ElfInfo elf = test::arm_program();
  elf.machine = host_architecture() == "aarch64" ? elf_aarch64 : elf_x86_64;
  elf.interpreter = "/no/such/loader";
  const fs::path program = directory.path() / "app";
  write_file(program, test::elf_of(elf) + "--device-facts", 0755);
  BoardFacts facts = probe(transport, {{}, program});
  EXPECT_TRUE(any_says(facts.remarks, "the board's CUDA driver was not asked: app ended with"));
  EXPECT_EQ(leftovers(), before);
  // One that would take the flag for a word of its own is not started at all.
  write_file(program, test::elf_of(elf), 0755);
  facts = probe(transport, {{}, program});
  EXPECT_TRUE(any_says(facts.remarks, "earlier teeny"));
  // Nor one for another machine.
  elf.machine = elf.machine == elf_aarch64 ? elf_x86_64 : elf_aarch64;
  write_file(program, test::elf_of(elf) + "--device-facts", 0755);
  facts = probe(transport, {{}, program});
  EXPECT_TRUE(any_says(facts.remarks, "app is no program for " + host_architecture()));
}

TEST(Probe, ABoardThatCannotBeReachedIsTold) {
  const FakeSsh ssh("echo 'ssh: connect to host board port 22: No route to host' >&2; exit 255");
  const Transport transport("board", ssh.command());
  try {
    static_cast<void>(probe(transport, {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 16);
  }
}

// A board's own tools may be BusyBox alone.
TEST(Probe, NeedsNoMoreThanBusyBox) {
  const auto busybox = find_program("busybox");
  if (!busybox) GTEST_SKIP() << "no busybox here";
  const TemporaryDirectory applets("applets");
  ASSERT_EQ(run({{busybox->string(), "--install", "-s", applets.path().string()}}).exit_code, 0);
  const FakeSsh ssh("PATH='" + applets.path().string() + "'; export PATH\n" + FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  const FakeSsh full_ssh(FakeSsh::obedient());
  const Transport full("board", full_ssh.command());
  const BoardFacts facts = probe(transport, {"/", {}});
  const BoardFacts expected = probe(full, {"/", {}});
  EXPECT_EQ(facts.from.glibc, Origin::probed);
  EXPECT_EQ(facts.board.triple, expected.board.triple);
  EXPECT_EQ(facts.board.chosen().glibc, expected.board.chosen().glibc);
  EXPECT_EQ(facts.board.chosen().glibcxx, expected.board.chosen().glibcxx);
  EXPECT_EQ(facts.board.chosen().os, expected.board.chosen().os);
  EXPECT_EQ(facts.board.cpu, expected.board.cpu);
  EXPECT_EQ(facts.cpu_features, expected.cpu_features);
  EXPECT_EQ(facts.memory_total, expected.memory_total);
  EXPECT_GT(facts.disk_free.value_or(0), 0U);
}
