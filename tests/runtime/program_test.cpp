// A whole program: its flags, and its life as a package on a board without a compiler.

#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/runtime/cuda_support.hpp"
#include "tests/runtime/program_support.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/artifact.hpp"
#include "teeny/cache/records.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using test::fake_driver;
using test::PackageTest;
using test::ProgramTest;

TEST_F(ProgramTest, BadOptionsEndItBeforeAnythingIsDone) {
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> say;
  };
  const std::vector<Case> cases = {
      {{"--device", "cuda", "--options", "capability=sm_88x"}, {"capability", "sm_88x", "sm_87"}},
      {{"--device", "cuda"}, {"capability"}},
      {{"--device", "tpu"}, {"--device", "tpu", "cuda", "cpu"}},
      {{"--device", "cuda", "--options", "capability=sm_87,ptx-version=99"},
       {"ptx-version", "9.9"}},
      {{"--device", "cuda", "--options", "capability=sm_87,ptx-version=73"},
       {"ptx-version", "7.3", "7.4"}},
      {{"--device", "cuda", "--options", "capability=sm_120,ptx-version=86"}, {"8.6", "8.7"}},
      {{"--device", "cuda", "--options", "capability=sm_87,colour=red"}, {"colour", "ptx-version"}},
      {{"--device", "cpu", "--device", "cuda", "--options", "capability=native"}, {"native"}},
      {{"--on", "gpu"}, {"--on", "gpu", "cuda:N"}},
      {{"--force"}, {"--force", "--device"}},
  };
  for (const Case& one : cases) {
    const ProcessResult result = run_program(one.words);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    for (const std::string& word : one.say) expect_words(result.error, {word.c_str()});
    EXPECT_EQ(result.output, "");
  }
  EXPECT_EQ(compiler_.count("start"), 0);
  EXPECT_FALSE(fs::exists(root_.path() / "cache dir"));
  EXPECT_FALSE(fs::exists(root_.path() / "traces"));
}

TEST_F(ProgramTest, ThePtxVersionVariableIsHeardAndOptionsWin) {
  environment_["TEENYC_PTX_VERSION"] = "nine";
  const ProcessResult bad = run_program({"--device", "cuda", "--options", "capability=sm_87"});
  EXPECT_EQ(bad.exit_code, 2);
  expect_words(bad.error, {"TEENYC_PTX_VERSION", "nine"});
  environment_["TEENYC_PTX_VERSION"] = "73";
  EXPECT_EQ(run_program({"--device", "cuda", "--options", "capability=sm_87"}).exit_code, 2);
  environment_["TEENYC_PTX_VERSION"] = "82";
  expect_words(run_program({"--device", "cuda", "--options", "capability=sm_87"}).output,
               {"PTX 8.2"});
  expect_words(
      run_program({"--device", "cuda", "--options", "capability=sm_87,ptx-version=8.4"}).output,
      {"PTX 8.4"});
  environment_["TEENYC_PTX_VERSION"] = "nine";
  EXPECT_EQ(
      run_program({"--device", "cuda", "--options", "capability=sm_87,ptx-version=8.4"}).exit_code,
      0);
}

TEST_F(ProgramTest, AheadOfTimeCompilesAllVariantsForAllDevicesAndStops) {
  const std::string cache = (root_.path() / "my cache é $x").string();
  const ProcessResult result =
      run_program({"--device", "cuda", "--options", "capability=sm_87,ptx-version=82", "--device",
                   "cpu", "--cache-dir", cache, "fill"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 8) << result.output;
  expect_words(result.output, {"Fill  sm_87 and later  PTX 8.2", "Scaled", "bytes", "ms"});
  expect_words(result.error, {"[8/8]", "8 artifacts of 4 kernels"});
  EXPECT_EQ(result.output.find("7 7 7"), std::string::npos) << "main went on";
  const auto records = ProgramRecords::read(cache, "runtime_test_program");
  ASSERT_TRUE(records);
  EXPECT_EQ(records->kernels().size(), 3u) << "Fill and two variants of Scaled; Hidden has no name";
  for (const auto& [key, record] : records->kernels()) {
    EXPECT_EQ(record.artifacts.size(), 2u);
    for (const std::string& name : record.artifacts) {
      EXPECT_EQ(Artifact::unpack(read_file(fs::path(cache) / name), name).info.fingerprint,
                record.fingerprint);
    }
  }
  const ProcessResult again = run_program({"--device", "cpu", "--cache-dir", cache});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(std::count(again.output.begin(), again.output.end(), '\n'), 4);
  expect_words(again.output, {"already there"});
  EXPECT_EQ(ProgramRecords::read(cache, "runtime_test_program")->kernels(), records->kernels())
      << "a command for one device forgets nothing of the other";
  EXPECT_EQ(compiler_.count("compile Fill"), 2);
  EXPECT_EQ(run_program({"--device", "cpu", "--cache-dir", cache, "--force"}).exit_code, 0);
  EXPECT_EQ(compiler_.count("compile Fill"), 3);
}

TEST_F(ProgramTest, TwoCommandsAtATimeForgetNothingOfOneAnother) {
  const fs::path cache = root_.path() / "cache dir";
  const fs::path programs = cache / "programs";
  ASSERT_EQ(run_program({"--device", "cuda", "--options", "capability=sm_87"}).exit_code, 0);
  const auto of_cuda = ProgramRecords::read(cache, "runtime_test_program");
  fs::remove(programs / "runtime_test_program.json");
  // The other command, played: it is about to write its records when this one has compiled.
  auto other =
      std::make_unique<FileLock>(programs / ".runtime_test_program.lock", std::chrono::seconds(10));
  std::thread one([&] { EXPECT_EQ(run_program({"--device", "cpu"}).exit_code, 0); });
  const auto compiled = [&] {
    int count = 0;
    for (const char* kernel : {"Fill", "Scaled", "Hidden"}) {
      count += compiler_.count(std::string("compile ") + kernel);
    }
    return count;
  };
  for (int i = 0; i < 6000 && compiled() < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(fs::exists(programs / "runtime_test_program.json")) << "it does not wait";
  of_cuda->write(cache);
  other.reset();
  one.join();
  const auto both = ProgramRecords::read(cache, "runtime_test_program");
  ASSERT_TRUE(both);
  for (const auto& [key, record] : both->kernels()) EXPECT_EQ(record.artifacts.size(), 2u) << key;
  EXPECT_EQ(test::files_below(programs), std::vector<std::string>{"runtime_test_program.json"});
}

TEST_F(ProgramTest, AFailingKernelFailsTheCommandAndOthersAreStillTried) {
  environment_["FAKE_FAULT"] = "abort:Scaled";
  const ProcessResult result = run_program({"--device", "cpu"});
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"kernel Scaled", "SIGABRT"});
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(compiler_.count("compile Fill"), 1);
  EXPECT_FALSE(fs::exists(root_.path() / "cache dir" / "programs"));
}

TEST_F(ProgramTest, JobsLimitsTheProcesses) {
  environment_["FAKE_DELAY_MS"] = "30";
  ASSERT_EQ(run_program({"--device", "cpu", "--options", "jobs=1"}).exit_code, 0);
  EXPECT_EQ(compiler_.count("start"), 1);
  ASSERT_EQ(run_program({"--device", "cpu", "--options", "jobs=4", "--force"}).exit_code, 0);
  EXPECT_EQ(compiler_.count("start"), 5);
}

TEST_F(ProgramTest, ListsItsKernels) {
  const ProcessResult result = run_program({"--list"});
  EXPECT_EQ(result.exit_code, 0);
  const auto lines = split(result.output, '\n');
  ASSERT_EQ(lines.size(), 5u) << result.output;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto words = split(lines[i], '\t');
    ASSERT_EQ(words.size(), 3u);
    EXPECT_EQ(words[1].size(), 64u);
  }
  expect_words(result.output, {"Fill\t", "Hidden\t", "Scaled\t"});
  EXPECT_EQ(compiler_.count("start"), 0);
}

TEST_F(ProgramTest, ItsOwnArgumentsReachIt) {
  EXPECT_EQ(run_program({"a b", "", "-x", "--on", "cpu", "--", "--list"}).output,
            "[a b][][-x][--list]\n");
}

TEST_F(ProgramTest, RunsOnTheDeviceThatIsNamed) {
  EXPECT_EQ(run_program({"device", "--on", "cpu"}).output, "cpu\n");
  EXPECT_EQ(run_program({"device", "--on", "cpu"}).error, "");
  environment_["TEENY_DEVICE"] = "cpu";
  EXPECT_EQ(run_program({"device"}).output, "cpu\n");
  environment_["TEENY_DEVICE"] = "abacus";
  expect_words(run_program({"device"}).error, {"TEENY_DEVICE", "abacus"});
  EXPECT_EQ(run_program({"device", "--on=cpu"}).output, "cpu\n");
}

TEST_F(ProgramTest, WithoutANameItTakesCudaWhereItAnswersAndSaysWhich) {
  environment_["LD_LIBRARY_PATH"] = fake_driver.string();
  const ProcessResult cuda = run_program({"device"});
  EXPECT_EQ(cuda.output, "cuda:0\n");
  expect_words(cuda.error, {"running on cuda:0", "sm_87", "12.6"});
  environment_["FAKE_CUDA_DEVICES"] = "0";
  const ProcessResult cpu = run_program({"device"});
  EXPECT_EQ(cpu.output, "cpu\n");
  expect_words(cpu.error, {"running on cpu"});
}

TEST_F(ProgramTest, AMissingCudaKernelIsNeverACpuRun) {
  environment_["LD_LIBRARY_PATH"] = fake_driver.string();
  ASSERT_EQ(run_program({"--device", "cpu"}).exit_code, 0);
  environment_["TEENYC_PATH"] = "";
  environment_["PATH"] = "/nonexistent";
  const ProcessResult result = run_program({"fill"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  expect_words(result.error,
               {"kernel Fill", "wanted code for a CUDA device sm_87", "CPU code for"});
}

TEST_F(ProgramTest, P11_CompilingAsksNoDriver) {
  environment_["LD_LIBRARY_PATH"] = fake_driver.string();
  environment_["FAKE_CUDA_LOG"] = (root_.path() / "driver").string();
  ASSERT_EQ(run_program({"--device", "cuda", "--options", "capability=sm_87"}).exit_code, 0);
  ASSERT_EQ(run_program({"--list"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(root_.path() / "driver")) << "libcuda was opened";
  ASSERT_EQ(run_program({"device"}).output, "cuda:0\n");
  EXPECT_TRUE(fs::exists(root_.path() / "driver")) << "the check above shows nothing";
}

TEST_F(ProgramTest, AnErrorEndsItWithItsCodeWhateverMainDoes) {
  for (const bool bare : {false, true}) {
    if (bare) environment_["BARE_MAIN"] = "1";
    const ProcessResult result = run_program({"throw"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(result.error, "teeny: error: thrown on purpose\nteeny: do not\n");
  }
}

TEST_F(ProgramTest, AnythingElseThatIsThrownEndsItWithOne) {
  const ProcessResult result = run_program({"throw a number"});
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"teeny: error: "});
}

TEST_F(ProgramTest, AHitStartsNothingAndWritesNothing) {
  ASSERT_EQ(run_program({"fill", "--on", "cpu"}).output, "7 7 7 7 \n");
  const auto before = test::files_below(root_.path() / "cache dir");
  const ProcessResult result = run_program({"fill", "--on", "cpu"});
  EXPECT_EQ(result.output, "7 7 7 7 \n");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(compiler_.count("start"), 1);
  EXPECT_EQ(test::files_below(root_.path() / "cache dir"), before);
}

TEST_F(PackageTest, RunsFromItsRecordsWithoutTracing) {
  const ProcessResult result = on_board({"fill", "--on", "cpu"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "7 7 7 7 \n");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(on_board({"scaled", "3", "--on", "cpu"}).output, "9 9 9 9 \n");
  EXPECT_FALSE(fs::exists(root_.path() / "traces"));
}

TEST_F(PackageTest, AKernelWithoutANameIsFoundByItsFingerprint) {
  EXPECT_EQ(on_board({"hidden", "--on", "cpu"}).output, "8 8 8 8 \n");
  EXPECT_EQ(read_file(root_.path() / "traces"), "Hidden\n");
}

TEST_F(PackageTest, NeedsNoHomeNoRightsAndWritesNothing) {
  const auto before = test::files_below(package_);
  for (const auto& entry : fs::recursive_directory_iterator(package_)) {
    fs::permissions(entry.path(),
                    fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
    fs::permissions(entry.path(), fs::perms::others_read, fs::perm_options::add);
    if (entry.is_directory() || entry.path() == packaged_) {
      fs::permissions(entry.path(), fs::perms::others_exec, fs::perm_options::add);
    }
  }
  Command command;
  command.argv = {packaged_.string(), "fill", "--on", "cpu"};
  command.clear_environment = true;
  if (::geteuid() == 0) {
    if (!find_program("setpriv")) GTEST_SKIP() << "needs setpriv to be nobody";
    command.argv.insert(command.argv.begin(),
                        {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"});
  }
  command.environment["HOME"] = "/nonexistent";
  const ProcessResult result = run(command);
  EXPECT_EQ(result.output, "7 7 7 7 \n") << result.error;
  EXPECT_EQ(test::files_below(package_), before);
  for (const auto& entry : fs::recursive_directory_iterator(package_)) {
    fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
  }
}

TEST_F(PackageTest, AKernelThatIsGoneIsTheMiss) {
  const fs::path gone = artifact("Fill", "cpu");
  fs::remove(gone);
  const ProcessResult result = on_board({"fill", "--on", "cpu"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  expect_words(result.error, {"kernel Fill", gone.filename().c_str(), "gone", "PTX 8.2"});
}

TEST_F(PackageTest, ADamagedKernelIsRefused) {
  const fs::path path = artifact("Fill", "cpu");
  const std::string bytes = read_file(path);
  write_file(path, bytes.substr(0, bytes.size() - 100));
  ProcessResult result = on_board({"fill", "--on", "cpu"});
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"truncated", path.filename().c_str()});
  std::string altered = bytes;
  altered[bytes.size() / 2] = static_cast<char>(altered[bytes.size() / 2] ^ 0x20);
  write_file(path, altered);
  result = on_board({"fill", "--on", "cpu"});
  EXPECT_EQ(result.exit_code, 1);
  expect_words(result.error, {"altered"});
}

TEST_F(PackageTest, IsClosedToACompilerThatIsThere) {
  board_["TEENYC_PATH"] = compiler_.location().program.string();
  const int before = compiler_.count("start");
  fs::remove(artifact("Fill", "cpu"));
  EXPECT_EQ(on_board({"fill", "--on", "cpu"}).exit_code, 1);
  EXPECT_EQ(compiler_.count("start"), before);
}

TEST_F(PackageTest, IsClosedToItsOwnProgramToo) {
  const auto before = test::files_below(package_);
  const fs::path link = root_.path() / "link";
  fs::create_directory_symlink(package_, link);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--device", "cpu"},
           {"--device", "cpu", "--force"},
           {"--device", "cpu", "--cache-dir", (package_ / "cache").string() + "/"},
           {"--device", "cpu", "--cache-dir", (link / "cache").string()},
           {"--device", "cpu", "--cache-dir", (package_ / "cache" / "more").string()}}) {
    const ProcessResult result = run_program(words, packaged_);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    expect_words(result.error, {"--device", "closed", "--cache-dir", package_.c_str()});
  }
  EXPECT_EQ(test::files_below(package_), before);
  EXPECT_EQ(
      run_program({"--device", "cpu", "--cache-dir", (root_.path() / "own").string()}, packaged_)
          .exit_code,
      0);
}

TEST_F(PackageTest, ItsCacheIsItsOwnByAnyName) {
  board_["TEENYC_PATH"] = compiler_.location().program.string();
  const fs::path link = root_.path() / "link";
  fs::create_directory_symlink(package_ / "cache", link);
  for (const std::string& name : {(package_ / "cache").string() + "/", link.string()}) {
    const ProcessResult result = on_board({"fill", "--on", "cpu", "--cache-dir", name});
    EXPECT_EQ(result.output, "7 7 7 7 \n") << result.error;
  }
  EXPECT_FALSE(fs::exists(root_.path() / "traces")) << "its records are believed";
}

// A package for a named board holds its exact machine code beside the PTX.
class MachineCodePackage : public PackageTest {
 protected:
  MachineCodePackage() {
    for (const char* kernel : {"Fill", "Scaled"}) add_machine_code(kernel);
    board_["LD_LIBRARY_PATH"] = fake_driver.string();
    board_["FAKE_CUDA_CODE"] = TEENY_BUILD_DIR "/tests/runtime_test_kernels.so";
    board_["FAKE_CUDA_LOG"] = (root_.path() / "driver").string();
    board_["FAKE_CUDA_REPORT"] = (root_.path() / "report").string();
  }
  // (The tests' own, as the compiler is played too.)
  void add_machine_code(const std::string& kernel) {
    auto records = ProgramRecords::read(package_ / "cache", "runtime_test_program");
    const auto kernels = records->kernels();
    for (const auto& [key, record] : kernels) {
      if (record.kernel != kernel) continue;
      for (const std::string& name : record.artifacts) {
        const fs::path ptx = package_ / "cache" / name;
        if (ptx.extension() != ".ptx") continue;
        Artifact code = Artifact::unpack(read_file(ptx), ptx);
        code.info.kind = ArtifactKind::cubin;
        code.info.assembler = "ptxas 12.2.140";
        code.code = test::machine_code(87, kernel, {8});
        const fs::path cubin = fs::path(ptx).replace_extension(".cubin");
        write_file(cubin, code.pack());
        auto both = record;
        both.artifacts.push_back(cubin.lexically_relative(package_ / "cache").string());
        records->add(key, both);
      }
    }
    records->write(package_ / "cache");
  }
  std::string report() const { return read_file(root_.path() / "report"); }
};

TEST_F(MachineCodePackage, P12_StartsWithoutAJitWhateverTheDriversCacheHolds) {
  board_["CUDA_DISABLE_PTX_JIT"] = "1";
  board_["CUDA_CACHE_DISABLE"] = "1";
  const ProcessResult result = on_board({"fill", "--on", "cuda"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.output, "7 7 7 7 \n");
  EXPECT_EQ(result.error, "");
  const std::string log = read_file(root_.path() / "driver");
  EXPECT_NE(log.find("machine code 87"), std::string::npos) << log;
  EXPECT_NE(report().find("count machine code 1\n"), std::string::npos) << report();
  EXPECT_EQ(report().find("count ptx"), std::string::npos) << report();
}

TEST_F(MachineCodePackage, P13_ReadOnlyAndHomelessItWritesNothing) {
  const auto everything = [&] { return test::files_below(root_.path()); };
  const fs::path own = root_.path() / "tmp";
  fs::create_directory(own);
  board_.erase("FAKE_CUDA_LOG");
  board_.erase("FAKE_CUDA_REPORT");
  board_["TMPDIR"] = own.string();  // should anything look for a place to write
  for (const auto& entry : fs::recursive_directory_iterator(package_)) {
    fs::permissions(entry.path(), fs::perms::owner_write | fs::perms::group_write,
                    fs::perm_options::remove);
  }
  const auto before = everything();
  const ProcessResult result = on_board({"scaled", "3", "--on", "cuda"});
  EXPECT_EQ(result.output, "9 9 9 9 \n") << result.error;
  EXPECT_EQ(everything(), before);
  for (const auto& entry : fs::recursive_directory_iterator(package_)) {
    fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
  }
}

TEST_F(MachineCodePackage, ReadsEachFileOnceAndSaysSoWhenAsked) {
  board_["TEENY_LOG"] = "debug";
  const ProcessResult result = on_board({"fill", "--on", "cuda"});
  EXPECT_EQ(result.output, "7 7 7 7 \n");
  expect_words(result.error, {"kernel Fill", "machine code for sm_87", ".cubin", " bytes", " ms"});
  EXPECT_FALSE(fs::exists(root_.path() / "traces")) << "records make tracing needless";
}

TEST_F(MachineCodePackage, PtxBesideExactMachineCodeMattersToTheCheckAlone) {
  write_file(artifact("Fill", "sm_87").replace_extension(".ptx"), "cut short");
  const ProcessResult result = on_board({"fill", "--on", "cuda"});
  EXPECT_EQ(result.output, "7 7 7 7 \n") << result.error;
  EXPECT_EQ(result.error, "");
  fs::remove(package_ / "conf" / "manifest.json");  // which this test does not write out
  const ProcessResult check = on_board({"--check"});
  EXPECT_EQ(check.exit_code, 15);
  expect_words(check.error, {"kernel Fill", ".ptx", "truncated"});
}

TEST_F(MachineCodePackage, LeavesNothingAliveInTheDriver) {
  EXPECT_EQ(on_board({"fill", "--on", "cuda"}).exit_code, 0);
  for (const char* kind : {"device bytes", "host bytes", "event", "graph"}) {
    const std::string line = std::string("live ") + kind + " ";
    const auto at = report().find(line);
    EXPECT_TRUE(at == std::string::npos || report()[at + line.size()] == '0') << kind << "\n"
                                                                              << report();
  }
}

TEST_F(MachineCodePackage, P47_TakesNoMoreMemoryThanItsBuffersAndReservesNone) {
  board_["FAKE_CUDA_MEMORY"] = "4096";  // a small board
  const ProcessResult result = on_board({"fill", "--on", "cuda"});
  EXPECT_EQ(result.output, "7 7 7 7 \n") << result.error;
  EXPECT_NE(report().find("live peak bytes 0 16\n"), std::string::npos) << report();
}

}  // namespace
}  // namespace teeny
