// The CUDA backend against a driver that is played (fake_libcuda.hpp): what is asked of it, and
// what is said when it refuses. Each test is of its own choice of chip and driver.

#include <gtest/gtest.h>

#include "runtime/backend.hpp"
#include "runtime/device_state.hpp"
#include "tests/cache/fake_compiler.hpp"
#include "tests/runtime/cuda_support.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/launch.hpp"

namespace teeny::detail {
namespace {

using test::machine_artifact;
using test::ptx_artifact;

class CudaTest : public testing::Test {
 protected:
  static std::string refusal(const Artifact& artifact) {
    const auto backend = make_cuda_backend(0);
    try {
      static_cast<void>(backend->load(artifact, "/cache/file"));
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "loaded";
    return {};
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  }
  [[nodiscard]] std::string log() const {
    return read_file_if_exists(directory_.path() / "driver").value_or("");
  }

  TemporaryDirectory directory_;
  test::FakeDriver driver_;
  test::Variable log_{"FAKE_CUDA_LOG", (directory_.path() / "driver").string()};
  test::Variable chip_{"FAKE_CUDA_CAPABILITY", "87"};
  test::Variable version_{"FAKE_CUDA_DRIVER", "12060"};
};

TEST_F(CudaTest, TellsWhatTheDriverSays) {
  const auto backend = make_cuda_backend(0);
  const auto facts = backend->facts();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->capability, Capability::sm_87);
  EXPECT_EQ(facts->driver, (DriverVersion{12, 6}));
  EXPECT_TRUE(facts->integrated);
  EXPECT_EQ(backend->name(), "cuda:0");
  EXPECT_EQ(backend->description(), "Orin (played), sm_87, driver 12.6");
  EXPECT_EQ(backend->compile_target().canonical(), Target(Capability::sm_87).canonical());
  const DeviceAttributes& has = backend->attributes();
  EXPECT_TRUE(has.integrated && has.maps_host_memory && !has.concurrent_managed_access);
  EXPECT_EQ(has.shared_bytes_per_block, 163u * 1024);
  EXPECT_EQ(has.max_threads_per_block, 1024);
  EXPECT_EQ(backend->memory().total, u64{1} << 32);
  EXPECT_EQ(backend->memory().free, u64{1} << 32);
}

TEST_F(CudaTest, CompilesForTheNearestKnownCapability) {
  const test::Variable chip("FAKE_CUDA_CAPABILITY", "88");
  EXPECT_EQ(make_cuda_backend(0)->compile_target().short_name(), "sm_87");
}

TEST_F(CudaTest, ADeviceThatIsNotThereIsAUsageError) {
  try {
    static_cast<void>(make_cuda_backend(3));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    expect_words(error.what(), {"cuda:3", "1 device", "cuda:0"});
  }
}

TEST_F(CudaTest, LaunchesWithWhatTheArtifactSays) {
  DeviceState device(make_cuda_backend(0));
  const auto kernel = device.backend().load(machine_artifact(Capability::sm_87, 100 * 1024), "/c");
  const u64 value = 42;
  const void* values[] = {&value};
  device.default_stream()->launch(*kernel, grid(3, 4, 5), values);
  expect_words(log(), {"machine code 87", "shared 102400",
                       "launch Kernel 3x4x5 threads 128 shared 102400 first 42"});
}

TEST_F(CudaTest, LittleSharedMemoryAsksForNothing) {
  static_cast<void>(
      make_cuda_backend(0)->load(machine_artifact(Capability::sm_87, 48 * 1024), "/cache/file"));
  EXPECT_EQ(log().find("shared"), std::string::npos);
}

TEST_F(CudaTest, SharedMemoryThatTheCodeHasBesidesCountsToo) {
  const test::Variable besides("FAKE_CUDA_STATIC_SHARED", "4096");
  DeviceState device(make_cuda_backend(0));
  const auto kernel = device.backend().load(machine_artifact(Capability::sm_87, 46 * 1024), "/c");
  const u64 value = 42;
  const void* values[] = {&value};
  device.default_stream()->launch(*kernel, grid(1), values);
  expect_words(log(), {"shared 47104", "launch Kernel"});
}

TEST_F(CudaTest, P29_TooMuchSharedMemoryIsSaidBeforeTheDriverIsAsked) {
  // The same code fits a chip with 163 KiB and not one with 99: required, limit, and what to lower.
  EXPECT_NO_THROW(static_cast<void>(
      make_cuda_backend(0)->load(machine_artifact(Capability::sm_87, 120 * 1024), "/c")));
  const test::Variable small("FAKE_CUDA_CAPABILITY", "86");
  expect_words(refusal(machine_artifact(Capability::sm_86, 120 * 1024)),
               {"kernel Kernel", "122880 bytes of shared memory", "cuda:0", "sm_86", "101376",
                "tile sizes", "num_stages"});
  EXPECT_EQ(log().find("machine code 86"), std::string::npos);
}

TEST_F(CudaTest, MoreThreadsThanTheCodeAllowsIsSaidBeforeALaunch) {
  expect_words(refusal(machine_artifact(Capability::sm_87, 0, 2048)),
               {"2048 threads", "1024", "num_warps"});
  const test::Variable heavy("FAKE_CUDA_MAX_THREADS", "96");
  expect_words(refusal(machine_artifact(Capability::sm_87)),
               {"128 threads of 32 registers", "for 96 threads", "num_warps", "max_registers"});
  EXPECT_EQ(driver_.live("module"), 0);
}

TEST_F(CudaTest, ARefusalCarriesTheDriversWords) {
  expect_words(refusal(ptx_artifact(Capability::sm_87, {9, 1})),
               {"cuda:0", "/cache/file", "222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                "Unsupported .version 9.1; current version is '8.5'"});
  expect_words(refusal(ptx_artifact(Capability::sm_87, {7, 3})),
               {"218", "PTX .version 7.3 does not support .target sm_87"});
  expect_words(refusal(ptx_artifact(Capability::sm_90, {8, 0})), {"218", "SM version specified"});
  expect_words(refusal(machine_artifact(Capability::sm_86)),
               {"209", "CUDA_ERROR_NO_BINARY_FOR_GPU"});
  Artifact other = machine_artifact(Capability::sm_87);
  other.info.kernel = "Missing";
  expect_words(refusal(other), {"entry Missing", "CUDA_ERROR_NOT_FOUND"});
  Artifact empty = ptx_artifact(Capability::sm_87, {8, 2});
  empty.code.clear();
  expect_words(refusal(empty), {"200", "Binary format for key='0', ident='' is not recognized"});
  Artifact cut = ptx_artifact(Capability::sm_87, {8, 2});
  cut.code = "//\n.vers";
  expect_words(refusal(cut), {"218", "Parsing error near '': syntax error"});
  Artifact damaged = machine_artifact(Capability::sm_87);
  damaged.code.resize(64);
  damaged.code[60] = '\0';
  expect_words(refusal(damaged), {"200", "CUDA_ERROR_INVALID_IMAGE"});
  EXPECT_EQ(driver_.live("module"), 0) << "what was refused is not kept";
}

TEST_F(CudaTest, ADriverIsTooOldForMachineCodeOfANewerCuda) {
  Artifact newer = machine_artifact(Capability::sm_87);
  newer.code = test::machine_code(87, "Kernel", {8}, true);
  expect_words(refusal(newer), {"200", "CUDA_ERROR_INVALID_IMAGE", "driver 12.6"});
  const test::Variable driver("FAKE_CUDA_DRIVER", "13020");
  EXPECT_NO_THROW(static_cast<void>(make_cuda_backend(0)->load(newer, "/c")));
  EXPECT_NO_THROW(
      static_cast<void>(make_cuda_backend(0)->load(machine_artifact(Capability::sm_87), "/c")));
}

TEST_F(CudaTest, EveryChipAndDriverLoadsItsOwnMachineCode) {
  for (const auto& [chip, driver] : {std::pair{"72", "11040"},
                                     {"87", "11040"},
                                     {"87", "12020"},
                                     {"90", "12080"},
                                     {"90", "13000"},
                                     {"110", "13000"},
                                     {"87", "13020"}}) {
    const test::Variable capability("FAKE_CUDA_CAPABILITY", chip);
    const test::Variable version("FAKE_CUDA_DRIVER", driver);
    const auto backend = make_cuda_backend(0);
    const Capability own = backend->facts()->capability;
    EXPECT_EQ(own.number(), std::stoi(chip));
    EXPECT_NO_THROW(static_cast<void>(backend->load(machine_artifact(own), "/c"))) << chip;
  }
}

TEST_F(CudaTest, P14_AJitIsAnnouncedWithKernelReasonAndTime) {
  const auto backend = make_cuda_backend(0);
  testing::internal::CaptureStderr();
  static_cast<void>(backend->load(ptx_artifact(Capability::sm_75, {6, 3}), "/cache/file.ptx"));
  const std::string said = testing::internal::GetCapturedStderr();
  const auto lines = split(said, '\n');
  ASSERT_GE(lines.size(), 2u) << said;
  expect_words(lines[0], {"kernel Kernel", "PTX 6.3", "sm_75", "no machine code for sm_87",
                          "cuda:0 compiles it now"});
  expect_words(lines[1], {"kernel Kernel", "compiled in", " ms"});
  expect_words(said, {"Tensor Cores stay idle"});
  // Before it begins, not after: a refusal is preceded by the announcement.
  const test::Variable off("CUDA_DISABLE_PTX_JIT", "1");
  testing::internal::CaptureStderr();
  const std::string refused = refusal(ptx_artifact(Capability::sm_75, {6, 3}));
  expect_words(testing::internal::GetCapturedStderr(), {"compiles it now"});
  expect_words(refused, {"223", "CUDA_ERROR_JIT_COMPILATION_DISABLED"});
}

TEST_F(CudaTest, MachineCodeLoadsWithoutAWordUnlessAskedForOne) {
  const auto backend = make_cuda_backend(0);
  testing::internal::CaptureStderr();
  static_cast<void>(backend->load(machine_artifact(Capability::sm_87), "/c/file.cubin"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const LogLevel before = log_level();
  set_log_level(LogLevel::debug);
  testing::internal::CaptureStderr();
  static_cast<void>(backend->load(machine_artifact(Capability::sm_87), "/c/file.cubin"));
  expect_words(testing::internal::GetCapturedStderr(),
               {"kernel Kernel", "machine code for sm_87", "/c/file.cubin", " bytes", " ms"});
  set_log_level(before);
}

TEST_F(CudaTest, OutOfMemorySaysHowMuchWasWantedAndIsThere) {
  try {
    static_cast<void>(make_cuda_backend(0)->allocate(std::size_t{1} << 40, Memory::device, false));
    FAIL();
  } catch (const Error& error) {
    expect_words(error.what(), {"1099511627776", "4294967296", "CUDA_ERROR_OUT_OF_MEMORY"});
  }
}

}  // namespace
}  // namespace teeny::detail
