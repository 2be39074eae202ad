// The CUDA backend against a driver that is played (fake_libcuda.cpp): what is asked of it, and
// what is said when it refuses. Each test is a process of its own choice of chip and driver.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "runtime/backend.hpp"
#include "tests/cache/fake_compiler.hpp"

#include "teeny/base/error.hpp"
#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/launch.hpp"

namespace teeny::detail {
namespace {

class CudaTest : public testing::Test {
 protected:
  CudaTest()
      : log_("FAKE_CUDA_LOG", (directory_.path() / "driver").string()),
        capability_("FAKE_CUDA_CAPABILITY", "87"),
        driver_("FAKE_CUDA_DRIVER", "12060") {
    // Whoever asks for libcuda.so.1 from now on gets this one, by its soname.
    EXPECT_NE(::dlopen(TEENY_BUILD_DIR "/tests/fake_driver/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL),
              nullptr)
        << ::dlerror();
  }
  static Artifact ptx(Capability capability, PtxVersion version, std::uint64_t shared = 0) {
    Artifact artifact;
    artifact.info.kind = ArtifactKind::ptx;
    artifact.info.kernel = "Kernel";
    artifact.info.fingerprint = std::string(64, 'f');
    artifact.info.target = Target(capability, version).canonical();
    artifact.info.key =
        artifact_key(artifact.info.fingerprint, Target(capability, version), "", "");
    artifact.info.capability = capability;
    artifact.info.ptx_version = version;
    artifact.info.threads = 128;
    artifact.info.shared_bytes = shared;
    artifact.code = "//\n.version " + version.name() + "\n.target " + capability.name() +
                    "\n.visible .entry Kernel(.param .u64 p)\n";
    return artifact;
  }
  static std::string refusal(Backend& backend, const Artifact& artifact) {
    try {
      static_cast<void>(backend.load(artifact, "/cache/file.ptx"));
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
  test::Variable log_;
  test::Variable capability_;
  test::Variable driver_;
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
  const auto backend = make_cuda_backend(0);
  testing::internal::CaptureStderr();
  const auto kernel = backend->load(ptx(Capability::sm_75, {6, 3}, 100 * 1024), "/cache/file.ptx");
  expect_words(testing::internal::GetCapturedStderr(),
               {"kernel Kernel", "sm_75", "PTX 6.3", " ms", "Tensor Cores stay idle"});
  u64 value = 42;
  void* values[] = {&value};
  backend->launch(*kernel, grid(3, 4, 5), values);
  expect_words(
      log(), {"ptx 75", "shared 102400", "launch Kernel 3x4x5 threads 128 shared 102400 first 42"});
}

TEST_F(CudaTest, LittleSharedMemoryAsksForNothing) {
  const auto backend = make_cuda_backend(0);
  static_cast<void>(backend->load(ptx(Capability::sm_87, {8, 2}, 48 * 1024), "/cache/file.ptx"));
  EXPECT_EQ(log().find("shared"), std::string::npos);
}

TEST_F(CudaTest, TooMuchSharedMemoryIsSaidBeforeTheDriverIsAsked) {
  const auto backend = make_cuda_backend(0);
  expect_words(refusal(*backend, ptx(Capability::sm_87, {8, 2}, 200 * 1024)),
               {"204800", "166912", "Kernel", "tiles"});
  EXPECT_EQ(log().find("ptx"), std::string::npos);
}

TEST_F(CudaTest, ARefusalCarriesTheDriversWords) {
  const auto backend = make_cuda_backend(0);
  expect_words(refusal(*backend, ptx(Capability::sm_87, {9, 1})),
               {"cuda:0", "/cache/file.ptx", "222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                "Unsupported .version 9.1; current version is '8.5'"});
  expect_words(refusal(*backend, ptx(Capability::sm_90, {8, 0})), {"218", "SM version specified"});
  Artifact other = ptx(Capability::sm_87, {8, 2});
  other.info.kernel = "Missing";
  expect_words(refusal(*backend, other), {"entry Missing", "CUDA_ERROR_NOT_FOUND"});
}

TEST_F(CudaTest, ALateFailureIsToldWhenItIsWaitedFor) {
  const auto backend = make_cuda_backend(0);
  const test::Variable fault("FAKE_CUDA_FAULT", "700");
  i32 value = 0;
  const u64 address = backend->allocate(4);
  try {
    backend->copy_out(&value, address, 4);
    FAIL();
  } catch (const Error& error) {
    expect_words(error.what(), {"earlier", "CUDA_ERROR_ILLEGAL_ADDRESS"});
  }
  backend->release(address);
}

TEST_F(CudaTest, OutOfMemorySaysHowMuchWasWanted) {
  try {
    static_cast<void>(make_cuda_backend(0)->allocate(std::size_t{1} << 40));
    FAIL();
  } catch (const Error& error) {
    expect_words(error.what(), {"1099511627776", "CUDA_ERROR_OUT_OF_MEMORY"});
  }
}

TEST_F(CudaTest, BuffersKnowTheirDevice) {
  const Device cuda = Device::cuda();
  EXPECT_EQ(cuda, Device::open("cuda:0"));
  EXPECT_EQ(cuda.kind(), DeviceKind::cuda);
  const std::vector<i32> values = {1, 2, 3};
  Buffer<i32> buffer = cuda.buffer(values);
  EXPECT_EQ(buffer.to_vector(), values);
  const std::vector<const DeviceState*> owners = {owner_of(buffer), owner_of(7)};
  KernelInstance instance;
  instance.name = "Kernel";
  try {
    launch(Device::cpu().state(), instance, nullptr, grid(1), {0, 0}, owners);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    expect_words(error.what(), {"argument 1", "on device cpu", "cuda:0"});
  }
}

}  // namespace
}  // namespace teeny::detail
