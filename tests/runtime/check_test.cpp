// A program's --check: what it compares, what it finds, and that it does nothing else.

#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runtime/cuda_support.hpp"
#include "tests/runtime/program_support.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/package.hpp"
#include "teeny/cache/records.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using test::fake_driver;
using test::PackageTest;
using test::ProgramTest;

// A board with this machine's processor.
Board test_board(Capability capability = Capability::sm_87, DriverVersion driver = {12, 2}) {
  const CpuTarget host = host_cpu_target();
  Board board;
  board.name = "test-board";
  board.triple = host.triple;
  board.cpu = host.cpu;
  board.capability = capability;
  board.integrated = true;
  board.shared_memory_kib = 163;
  board.memory_mib = 8192;
  board.generations = {{"1.0", "", "an OS", "2.35", "3.4.30", driver, ptx_ceiling(driver)}};
  return board;
}

// The packaged program, with a manifest and a board; no CUDA device unless a test wants one.
class CheckTest : public PackageTest {
 protected:
  CheckTest() {
    board_["LD_LIBRARY_PATH"] = fake_driver.string();
    board_["FAKE_CUDA_DEVICES"] = "0";
    board_["FAKE_CUDA_LOG"] = (root_.path() / "driver").string();
    fs::create_directories(package_ / "data");
    write_file(package_ / "data" / "picture", "a picture");
    write_file(package_ / PackageContents::board_path, board_to_json(test_board()));
    write_manifest();
  }

  void write_manifest() {
    nlohmann::json files = nlohmann::json::array();
    for (const std::string& name : test::files_below(package_)) {
      if (name == PackageContents::path || (leave_out_ && name.rfind(*leave_out_, 0) == 0))
        continue;
      files.push_back({{"path", name},
                       {"mode", "0644"},
                       {"size", fs::file_size(package_ / name)},
                       {"sha256", sha256_file(package_ / name)}});
    }
    const nlohmann::json root = {
        {"schema", PackageContents::schema},
        {"name", "the package"},
        {"board", "test-board@1.0"},
        {"triple", "any"},
        {"programs", {"runtime_test_program"}},
        {"devices", {{{"device", "cuda"}, {"options", ""}}, {{"device", "cpu"}, {"options", ""}}}},
        {"files", files}};
    write_file(package_ / PackageContents::path, root.dump());
  }

  ProcessResult check(const std::optional<Board>& board = std::nullopt) {
    std::vector<std::string> words = {"--check"};
    if (board) {
      const fs::path file = root_.path() / "another board.json";
      write_file(file, board_to_json(*board));
      words.insert(words.end(), {"--board", file.string()});
    }
    return on_board(words);
  }
  void expect_finding(const ProcessResult& result, int code,
                      std::initializer_list<const char*> words) {
    EXPECT_EQ(result.exit_code, code) << result.output << result.error;
    expect_words(result.error, words);
  }
  // Changes an artifact's description and says so in the manifest: only the description is wrong.
  void describe_anew(const fs::path& path, const std::function<void(ArtifactInfo&)>& change) {
    Artifact artifact = Artifact::unpack(read_file(path), path);
    change(artifact.info);
    write_file(path, artifact.pack());
    write_manifest();
  }
  // Beside the kernel's PTX, or in its place.
  void add_machine_code(int chip, const char* assembler, int elf_abi, bool keep_ptx = true) {
    const fs::path ptx = artifact("Fill", "sm_87");
    Artifact code = Artifact::unpack(read_file(ptx), ptx);
    code.info.kind = ArtifactKind::cubin;
    code.info.capability = Capability(chip / 10, chip % 10);
    code.info.assembler = assembler;
    code.info.elf_abi = elf_abi;
    code.info.registers = 32;
    code.info.spill_bytes = 0;
    code.code = test::machine_code(chip, "Fill", {8}, elf_abi == 8);
    const fs::path file = Cache(package_ / "cache").publish(code);
    const auto name = [this](const fs::path& path) {
      return path.lexically_relative(package_ / "cache").generic_string();
    };
    const auto before = ProgramRecords::read(package_ / "cache", "runtime_test_program");
    ProgramRecords after("runtime_test_program");
    for (auto [key, record] : before->kernels()) {
      if (key == "4Fill") record.artifacts.push_back(name(file));
      if (key == "4Fill" && !keep_ptx) std::erase(record.artifacts, name(ptx));
      after.add(key, record);
    }
    if (!keep_ptx) fs::remove(ptx);
    after.write(package_ / "cache");
    write_manifest();
  }
  [[nodiscard]] int driver_asked_for(const std::string& word) const {
    int count = 0;
    const std::string text = read_file_if_exists(root_.path() / "driver").value_or("");
    for (const std::string& line : split(text, '\n')) {
      if (line.rfind(word, 0) == 0) ++count;
    }
    return count;
  }

  std::optional<std::string> leave_out_;
};

TEST_F(CheckTest, AWholePackageFitsItsBoard) {
  const auto before = test::files_below(package_);
  const int starts = compiler_.count("start");
  board_["TEENYC_PATH"] = compiler_.location().program.string();
  for (const bool named : {false, true}) {
    const ProcessResult result = check(named ? std::optional(test_board()) : std::nullopt);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.output.rfind("checking runtime_test_program: package the package", 0), 0u)
        << result.output;
    expect_words(result.output,
                 {"Fill: test-board@1.0: PTX 8.2 for sm_87 and later, compiled by the driver",
                  "Fill: test-board@1.0: CPU code for ", "Scaled{2}: ", "Scaled{3}: ", "Hidden: ",
                  "4 kernels are complete for cuda and cpu", "files are as the manifest says"});
    EXPECT_EQ(result.error.find("error"), std::string::npos) << result.error;
  }
  EXPECT_EQ(test::files_below(package_), before);
  EXPECT_EQ(compiler_.count("start"), starts);
}

TEST_F(CheckTest, WithoutACudaDeviceItSaysWhatItComparesWith) {
  expect_words(check().error, {"no CUDA device here", "the board that the package was made for"});
  EXPECT_EQ(check(test_board()).error, "");
}

TEST_F(CheckTest, ABoardThatIsNamedIsComparedWithoutADriver) {
  ASSERT_EQ(check(test_board()).exit_code, 0);
  EXPECT_FALSE(fs::exists(root_.path() / "driver")) << "libcuda was opened";
  ASSERT_EQ(check().exit_code, 0);
  EXPECT_TRUE(fs::exists(root_.path() / "driver")) << "the check above shows nothing";
}

TEST_F(CheckTest, AnotherCapabilityIsToldInOneLine) {
  const ProcessResult result = check(test_board(Capability::sm_72));
  expect_finding(result, 10,
                 {"kernel Fill", "PTX 8.2 for sm_87 and later",
                  "wanted capability 8.7 or later for PTX of sm_87, board test-board@1.0 has 7.2",
                  "teeny package --target test-board@1.0", "kernel Scaled{3}"});
  expect_words(result.output, {"Fill: test-board@1.0: CPU code"});
}

TEST_F(CheckTest, ADriverThatIsTooOldIsTold) {
  expect_finding(check(test_board(Capability::sm_87, {12, 1})), 11,
                 {"kernel Fill", "wanted a driver that loads PTX 8.2 (CUDA 12.2 or later)",
                  "board test-board@1.0 has driver 12.1, whose ceiling is PTX 8.1"});
}

TEST_F(CheckTest, ExactMachineCodeIsWhatRuns) {
  add_machine_code(87, "ptxas 12.2.140", 7);
  const ProcessResult result = check(test_board());
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  expect_words(result.output,
               {"Fill: test-board@1.0: exact machine code of sm_87 by ptxas 12.2.140\n"});
  const std::string shown = on_board({"--inspect", "Fill"}).output;
  expect_words(shown, {"form         machine code of sm_87 by ptxas 12.2.140\n", "ELF ABI      7\n",
                       "registers    32\n", "spilled      0 bytes\n"});
}

TEST_F(CheckTest, P05_MachineCodeOfAnotherCapabilityIsNoneForAnIntegratedBoard) {
  add_machine_code(80, "ptxas 12.2.140", 7);
  const ProcessResult with_ptx = check(test_board());
  EXPECT_EQ(with_ptx.exit_code, 0);
  expect_words(with_ptx.output, {"Fill: test-board@1.0: PTX 8.2"});
  expect_words(with_ptx.error,
               {"kernel Fill runs on test-board@1.0 by what the driver makes of its PTX",
                "machine code of sm_80 by ptxas 12.2.140", "wanted capability 8.0 exactly",
                "board test-board@1.0 has 8.7"});
}

TEST_F(CheckTest, P39_MachineCodeOfANewerAssemblerThanTheDriverIsTold) {
  add_machine_code(87, "ptxas 13.0.88", 8, false);
  expect_finding(check(test_board()), 11,
                 {"kernel Fill has no code for test-board@1.0",
                  "wanted a driver of CUDA 13.0 or later for machine code of ptxas 13.0.88",
                  "board test-board@1.0 has driver 12.2"});
  EXPECT_EQ(check(test_board(Capability::sm_87, {13, 0})).exit_code, 0);
}

TEST_F(CheckTest, ABoardWithoutACudaDeviceIsTold) {
  Board board = test_board();
  board.capability.reset();
  board.generations[0].driver.reset();
  expect_finding(check(board), 10,
                 {"kernel Fill", "wanted a CUDA device", "test-board@1.0 has none"});
}

TEST_F(CheckTest, AnotherProcessorIsTold) {
  Board board = test_board();
  board.triple = board.triple == "x86_64-linux-gnu" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  board.cpu = "other";
  expect_finding(check(board), 10,
                 {"kernel Fill", "CPU code for", "wanted a machine of", "board test-board@1.0 is ",
                  board.triple.c_str()});
}

TEST_F(CheckTest, ThisMachinesDevicesAreAskedWhereThereAreAny) {
  board_["FAKE_CUDA_DEVICES"] = "2";
  ProcessResult result = check();
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_words(result.output, {"cuda cuda:0: Orin", "sm_87, driver 12.6", "Fill: cuda:1: PTX 8.2",
                               "Fill: cpu: CPU code"});
  EXPECT_EQ(driver_asked_for("ptx"), 0) << "something was loaded";
  board_["FAKE_CUDA_DRIVER"] = "11040";
  expect_finding(check(), 11,
                 {"kernel Fill has no code for cuda:1", "device cuda:1 has driver 11.4"});
  board_["FAKE_CUDA_CAPABILITY"] = "75";
  expect_finding(check(), 10, {"device cuda:0 has 7.5", "capability=sm_75,driver=11.4"});
  // The board it was made for is not asked when there is a device.
  board_["FAKE_CUDA_CAPABILITY"] = "87";
  board_["FAKE_CUDA_DRIVER"] = "12060";
  write_file(package_ / PackageContents::board_path, board_to_json(test_board(Capability::sm_72)));
  write_manifest();
  EXPECT_EQ(check().exit_code, 0);
}

TEST_F(CheckTest, AMissingKernelIsToldOnce) {
  const fs::path gone = artifact("Fill", "cpu");
  fs::remove(gone);
  const ProcessResult result = check();
  expect_finding(result, 15,
                 {"kernel Fill: ", gone.filename().c_str(), "missing", "make the package again",
                  "1 problem found, exit code 15"});
  expect_words(result.output,
               {"Fill: test-board@1.0: PTX 8.2", "Hidden: test-board@1.0: CPU code"});
}

TEST_F(CheckTest, AnAlteredKernelIsTold) {
  const fs::path path = artifact("Scaled", "sm_87");
  std::string bytes = read_file(path);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
  write_file(path, bytes);
  expect_finding(check(), 15, {"kernel Scaled", path.filename().c_str(), "altered"});
  write_file(path, bytes.substr(0, bytes.size() / 2));
  expect_finding(check(), 15, {"kernel Scaled", path.filename().c_str(), "truncated"});
}

TEST_F(CheckTest, AKernelThatIsWholeButNotThePackagesIsTold) {
  const fs::path path = artifact("Fill", "sm_87");
  Artifact other = Artifact::unpack(read_file(path), path);
  other.code += "// another code\n";
  write_file(path, other.pack());
  expect_finding(check(), 15, {path.filename().c_str(), "altered: wanted", "bytes"});
}

TEST_F(CheckTest, EveryFileOfTheManifestIsLookedAt) {
  write_file(package_ / "data" / "picture", "A picture");
  fs::remove(artifact("Hidden", "cpu").parent_path() / "kernel.tir");
  const ProcessResult result = check();
  expect_finding(
      result, 15,
      {"data/picture: altered: wanted SHA-256", "kernel.tir: missing", "2 problems found"});
  // In one go: those of kernels and those of files.
  fs::remove(artifact("Fill", "cpu"));
  expect_finding(check(test_board(Capability::sm_72)), 10,
                 {"data/picture", "kernel.tir", "kernel Fill: ", "has 7.2"});
}

TEST_F(CheckTest, TheProgramIsBoundToThePackage) {
  leave_out_ = "bin/";
  write_manifest();
  expect_finding(check(), 15, {"bin/runtime_test_program", "conf/manifest.json", "no such entry"});
  leave_out_.reset();
  write_manifest();
  ASSERT_EQ(check().exit_code, 0);
  const std::string program = read_file(packaged_);
  write_file(packaged_, program + "!", 0755);
  expect_finding(check(), 15, {"bin/runtime_test_program: altered"});
}

TEST_F(CheckTest, ADamagedManifestOrRecordIsTold) {
  write_file(package_ / PackageContents::path, "{}");
  expect_finding(check(), 15, {"manifest.json", "damaged"});
  write_manifest();
  const fs::path records = ProgramRecords::path(package_ / "cache", "runtime_test_program");
  write_file(records, "{}");
  write_manifest();
  expect_finding(check(), 15, {records.filename().c_str(), "damaged"});
}

TEST_F(CheckTest, AKernelThatWasChangedIsToldWithItsFirstDifference) {
  board_["TEST_FILL"] = "8";
  const ProcessResult result = check();
  expect_finding(
      result, 15,
      {"kernel Fill: wanted code of fingerprint", "as this program traces it",
       "the first operation that differs: wanted line ", "= constant bits=0x8 : i32  # 8",
       "kernel.tir line ", "= constant bits=0x7 : i32  # 7", "make the package again"});
  EXPECT_EQ(result.error.find("kernel Scaled"), std::string::npos) << result.error;
}

TEST_F(CheckTest, SoIsOneWithoutARecord) {
  board_["TEST_HIDDEN"] = "3";
  expect_finding(
      check(), 15,
      {"Hidden: wanted code for cuda and cpu of fingerprint", "found none in", "1 problem found",
       "= constant bits=0x3 : i32  # 3", "= constant bits=0x8 : i32  # 8"});
}

TEST_F(CheckTest, CodeThatIsCalledInAnotherWayIsTold) {
  describe_anew(artifact("Fill", "sm_87"), [](ArtifactInfo& info) { info.launch_abi = 99; });
  expect_finding(check(), 15, {"wanted code of launch ABI 1, found 99"});
  describe_anew(artifact("Fill", "sm_87"), [](ArtifactInfo& info) {
    info.launch_abi = 1;
    info.parameters = {"ptr<f32>"};
  });
  expect_finding(check(), 13,
                 {"kernel Fill: wanted code with parameters (ptr<i32>), found (ptr<f32>)"});
}

TEST_F(CheckTest, MoreSharedMemoryThanABlockHasIsTold) {
  describe_anew(artifact("Fill", "sm_87"),
                [](ArtifactInfo& info) { info.shared_bytes = 164 * 1024; });
  expect_finding(check(), 14,
                 {"kernel Fill: wanted 167936 bytes of shared memory a block, board test-board@1.0 "
                  "has 166912"});
}

TEST_F(CheckTest, P47_DeclaredMemoryIsComparedWithTheBoards) {
  expect_words(check().output, {"device memory: unknown, the program declares none"});
  board_["TEST_MEMORY_NEED"] = std::to_string(std::uint64_t{7680} << 20);
  const ProcessResult fits = check();
  EXPECT_EQ(fits.exit_code, 0) << fits.error;
  expect_words(fits.output,
               {"device memory: wanted 7680 MiB", "board test-board@1.0 has 8192 MiB"});
  board_["TEST_MEMORY_NEED"] = std::to_string((std::uint64_t{7680} << 20) + 1);
  expect_finding(check(), 14,
                 {"wanted 7681 MiB of device memory, board test-board@1.0 has 8192 MiB"});
  board_["FAKE_CUDA_DEVICES"] = "1";
  expect_finding(check(), 14, {"wanted 7681 MiB of device memory, device cuda:0 has "});
}

TEST_F(ProgramTest, P47_TheRecordsCarryWhatIsDeclared) {
  const auto recorded = [&] {
    EXPECT_EQ(run_program({"--device", "cpu"}).exit_code, 0);
    return ProgramRecords::read(root_.path() / "cache dir", "runtime_test_program")
        ->peak_device_bytes();
  };
  EXPECT_EQ(recorded(), std::nullopt);
  environment_["TEST_MEMORY_NEED"] = "123456789012";
  EXPECT_EQ(recorded(), std::uint64_t{123456789012});
  environment_.erase("TEST_MEMORY_NEED");
  EXPECT_EQ(recorded(), std::nullopt);
}

TEST_F(ProgramTest, DeviceFactsAreWhatTheDriverSays) {
  environment_["LD_LIBRARY_PATH"] = fake_driver.string();
  environment_["FAKE_CUDA_DRIVER"] = "12040";
  ProcessResult result = run_program({"--device-facts"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const auto said = nlohmann::json::parse(result.output);
  EXPECT_EQ(said.at("schema"), "teeny-device-facts/1");
  ASSERT_EQ(said.at("devices").size(), 1U);
  const auto& device = said.at("devices").front();
  EXPECT_EQ(device.at("capability"), "sm_87");
  EXPECT_EQ(device.at("driver"), "12.4");
  EXPECT_TRUE(device.at("integrated").is_boolean());
  EXPECT_GT(device.at("multiprocessors"), 0);
  EXPECT_GT(device.at("shared_bytes"), 0);
  EXPECT_GE(device.at("memory_total"), device.at("memory_free"));
  // No device is an answer, too.
  environment_["FAKE_CUDA_DEVICES"] = "0";
  result = run_program({"--device-facts"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const auto none = nlohmann::json::parse(result.output);
  EXPECT_TRUE(none.at("devices").empty());
  EXPECT_FALSE(none.at("why_none").get<std::string>().empty());
}

TEST_F(CheckTest, ABoardFileThatIsNoneIsRefused) {
  ProcessResult result = on_board({"--check", "--board", "/nonexistent/board.json"});
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"/nonexistent/board.json"});
  write_file(root_.path() / "toml", "schema = 1\n");
  result = on_board({"--check", "--board", (root_.path() / "toml").string()});
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"toml: wanted a board as JSON", "teeny boards NAME --json"});
}

TEST_F(ProgramTest, OutsideAPackageACheckLooksIntoTheCache) {
  environment_["LD_LIBRARY_PATH"] = fake_driver.string();
  ProcessResult result = run_program({"--check"});
  EXPECT_EQ(result.exit_code, 15) << result.error;
  expect_words(result.error, {"kernel Fill: wanted code for any device of fingerprint",
                              "found none in", "--device"});
  ASSERT_EQ(run_program({"--device", "cuda", "--options", "capability=sm_87"}).exit_code, 0);
  const int starts = compiler_.count("start");
  result = run_program({"--check"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_words(result.output, {"Fill: cuda:0: PTX 7.4", "4 kernels are complete for cuda\n"});
  EXPECT_EQ(compiler_.count("start"), starts);
  environment_["FAKE_CUDA_DEVICES"] = "0";
  result = run_program({"--check"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  expect_words(result.error, {"no CUDA device here", "--board FILE"});
  expect_words(result.output, {"Fill: PTX 7.4 for sm_87 and later\n"});
}

TEST_F(ProgramTest, P15_StaleCodeIsToldWithBothCompilers) {
  ASSERT_EQ(run_program({"--device", "cpu"}).exit_code, 0);
  ASSERT_EQ(run_program({"--check"}).exit_code, 0);
  compiler_.set_identity('b');
  const ProcessResult stale = run_program({"--check"});
  EXPECT_EQ(stale.exit_code, 15);
  expect_words(stale.error, {"kernel Fill: wanted code for cpu of teenyc bbbbbbbb",
                             "found only stale code, of teenyc aaaaaaaa"});
  // Beside code of this compiler it is nobody's business.
  ASSERT_EQ(run_program({"--device", "cpu"}).exit_code, 0);
  EXPECT_EQ(run_program({"--check"}).exit_code, 0);
}

class InspectTest : public CheckTest {};

TEST_F(InspectTest, ShowsAllThatIsKnownOfAKernel) {
  board_["FAKE_CUDA_DEVICES"] = "1";
  const ProcessResult result = on_board({"--inspect", "Fill"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.error, "");
  expect_words(
      result.output,
      {"kernel Fill\n", "type         Fill\n", "members      none\n", "parameters   ptr<i32>\n",
       "record key   4Fill\n", "teeny-ir 1\nkernel Fill(", "= constant bits=0x7 : i32  # 7",
       "\nartifact Fill-", "form         PTX 8.2 for sm_87",
       "assembler    none: the driver's compiler\n", "threads      128\n", "launch ABI   1\n",
       "loads on     cuda:0 (Orin (played), sm_87, driver 12.6): yes: ",
       "test-board@1.0 (sm_87, driver 12.2): yes: PTX 8.2", ".visible .entry Fill(",
       "form         CPU code for ", "scratch      4096 bytes a thread\n",
       "compiler     teenyc aaaa"});
  EXPECT_EQ(driver_asked_for("ptx"), 0);
}

TEST_F(InspectTest, TakesNamesTypesKeysAndFingerprints) {
  const std::string all = on_board({"--inspect", "Scaled"}).output;
  expect_words(all, {"members      {2}\n", "members      {3}\n"});
  const std::string one = on_board({"--inspect", "6Scaled|{3}"}).output;
  EXPECT_EQ(one.find("{2}"), std::string::npos);
  EXPECT_EQ(on_board({"--inspect", "Scaled{3}"}).output, one);
  const auto at = one.find("fingerprint  ") + 13;
  EXPECT_EQ(on_board({"--inspect", one.substr(at, 12)}).output, one);
  EXPECT_EQ(on_board({"--inspect", one.substr(at, 7)}).exit_code, 2);
}

TEST_F(InspectTest, AnUnknownKernelIsAUsageErrorThatListsThem) {
  const ProcessResult result = on_board({"--inspect", "Blur"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  expect_words(result.error, {"--inspect Blur", "Fill", "Scaled{2}", "Hidden"});
}

TEST_F(InspectTest, SaysWhatIsWrongWithAnArtifact) {
  fs::remove(artifact("Fill", "cpu"));
  board_["TEST_FILL"] = "9";
  const ProcessResult result = on_board({"--inspect", "Fill"});
  EXPECT_EQ(result.exit_code, 0);
  expect_words(result.output, {"problem      ", ": missing\n", "record       of fingerprint "});
}

}  // namespace
}  // namespace teeny
