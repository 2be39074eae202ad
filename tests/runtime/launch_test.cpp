#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/runtime/device_support.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fs = std::filesystem;

// Their machine code is in test_kernels.cpp; what is recorded here only has to have the same
// parameters.
namespace kernels {

using namespace teeny;

struct Count {
  void operator()(Ptr<i32> out) const { store(out + program_id(0), full<i32>(1)); }
};
struct First {
  void operator()(Ptr<i32> out) const { store(out + program_id(0), full<i32>(1)); }
};
struct Absent {
  void operator()(Ptr<i32> out) const { store(out + program_id(0), full<i32>(1)); }
};
struct Subnormal {
  void operator()(Ptr<f32> out) const { store(out, full<f32>(1.0f)); }
};
struct Scaled {
  int factor;
  static std::vector<Scaled> variants() { return {{2}, {3}}; }
  void operator()(Ptr<i32> out) const { store(out + program_id(0), full<i32>(factor)); }
};
struct Scalars {
  void operator()(Ptr<u64> out, Scalar<i8> a, Scalar<u16>, Scalar<i32>, Scalar<u64>, Scalar<f16>,
                  Scalar<f32>, Scalar<f64>, Scalar<bool>) const {
    store(out, cast<u64>(a));
  }
};
struct Reads {
  void operator()(Ptr<const i32>, Ptr<i32> out) const { store(out, full<i32>(1)); }
};

}  // namespace kernels

namespace teeny {
namespace {

class Launch : public test::DeviceTest {
 protected:
  Device device_ = Device::cpu();
};

TEST_F(Launch, RunsEveryProgramOnceWithScratchOfItsOwn) {
  for (const Grid& extents :
       {grid(1), grid(5), grid(1000), grid(7, 11), grid(3, 1, 5), grid(2, 3, 4), grid(1, 65535)}) {
    const auto count = static_cast<std::size_t>(extents.count());
    Buffer<i32> out = device_.buffer<i32>(count);
    out.fill_bytes(0);
    device_.launch(kernels::Count{}, extents, out);
    EXPECT_EQ(out.to_vector(), std::vector<i32>(count, 1))
        << extents.x << "x" << extents.y << "x" << extents.z;
  }
}

TEST_F(Launch, CompilesOnTheFirstLaunchOnly) {
  Buffer<i32> out = device_.buffer<i32>(1);
  testing::internal::CaptureStderr();
  device_.launch(kernels::First{}, grid(1), out);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("compiling kernel First for cpu"), std::string::npos) << said;
  EXPECT_NE(said.find(" ms"), std::string::npos) << said;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 10; ++i) device_.launch(kernels::First{}, grid(1), out);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(compiler_.count("compile First"), 1);
}

TEST_F(Launch, ScalarsArriveInTheirParametersTypes) {
  Buffer<u64> out = device_.buffer<u64>(8);
  device_.launch(kernels::Scalars{}, grid(1), out, -1, 65535, -2, std::numeric_limits<u64>::max(),
                 1.5, 0.1, 0.1, true);
  EXPECT_EQ(out.to_vector(), (std::vector<u64>{0xff, 0xffff, 0xfffffffe, ~u64{0}, 0x3e00,
                                               0x3dcccccd, 0x3fb999999999999a, 1}));
}

TEST_F(Launch, NumbersBeyondTheirTypeAreRefusedByNumber) {
  Buffer<u64> out = device_.buffer<u64>(8);
  expect_words(error_of(
                   [&] {
                     device_.launch(kernels::Scalars{}, grid(1), out, 128, 1, 1, u64{1}, 1.0, 1.0f,
                                    1.0, true);
                   },
                   2),
               {"Scalars", "2", "128", "i8"});
  expect_words(error_of(
                   [&] {
                     device_.launch(kernels::Scalars{}, grid(1), out, 1, -1, 1, u64{1}, 1.0, 1.0f,
                                    1.0, true);
                   },
                   2),
               {"Scalars", "3", "-1", "u16"});
}

TEST_F(Launch, GridsBeyondTheLimitsAreRefused) {
  Buffer<i32> out = device_.buffer<i32>(1);
  for (const Grid& bad : {grid(0), grid(-1), grid(i64{1} << 31), grid(1, 0), grid(1, 65536),
                          grid(1, 1, 0), grid(1, 1, 65536)}) {
    expect_words(error_of([&] { device_.launch(kernels::Count{}, bad, out); }, 2),
                 {"Count", "wanted 1 to"});
  }
}

TEST_F(Launch, AnUndeclaredVariantIsRefusedColdAndWarm) {
  Buffer<i32> out = device_.buffer<i32>(4);
  for (int round = 0; round < 2; ++round) {
    expect_words(error_of([&] { device_.launch(kernels::Scaled{5}, grid(4), out); }, 2),
                 {"Scaled", "variants()", "5", "2", "3"});
    device_.launch(kernels::Scaled{2}, grid(4), out);
    EXPECT_EQ(out.to_vector(), std::vector<i32>(4, 9));
  }
  // Not even when its code is in the cache.
  const fs::path path = compile_to_cache(instance_of(kernels::Scaled{7}).trace(), host_cpu_target(),
                                         false, cache_.path() / "cache");
  EXPECT_TRUE(fs::exists(path));
  static_cast<void>(error_of([&] { device_.launch(kernels::Scaled{7}, grid(4), out); }, 2));
  static_cast<void>(error_of(
      [&] { static_cast<void>(compile_kernel(kernels::Scaled{7}, Target(Capability::sm_87))); },
      2));
}

TEST_F(Launch, EachVariantIsItsOwnKernel) {
  EXPECT_NE(compile_kernel(kernels::Scaled{2}, Target(Capability::sm_87)),
            compile_kernel(kernels::Scaled{3}, Target(Capability::sm_87)));
}

TEST_F(Launch, WithoutCodeAndCompilerIsTheMiss) {
  const test::Variable none("TEENYC_PATH", std::nullopt);
  const test::Variable nowhere("PATH", "/nonexistent");
  detail::set_cache_directory(cache_.path() / "empty");
  Buffer<i32> out = device_.buffer<i32>(1);
  expect_words(error_of([&] { device_.launch(kernels::Absent{}, grid(1), out); }, 1),
               {"Absent", "wanted code for a CPU", "nothing in", "TEENYC_PATH"});
  EXPECT_FALSE(fs::exists(cache_.path() / "empty")) << "a miss writes nothing";
}

TEST_F(Launch, CodeWithoutItsEntryIsAnError) {
  Buffer<i32> out = device_.buffer<i32>(1);
  expect_words(error_of([&] { device_.launch(kernels::Absent{}, grid(1), out); }, 1),
               {"entry Absent"});
}

TEST_F(Launch, KernelsKeepSubnormalsWhateverTheProgramDoes) {
  Buffer<f32> out = device_.buffer<f32>(1);
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush results, take inputs as zero
#endif
  device_.launch(kernels::Subnormal{}, grid(1), out);
#if defined(__x86_64__)
  EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u) << "the program's own mode is its own again";
  _mm_setcsr(before);
#endif
  u32 bits = 0;
  const f32 value = out.to_vector()[0];
  std::memcpy(&bits, &value, sizeof bits);
  EXPECT_NE(bits, 0u);
}

TEST_F(Launch, CompileKernelGivesThePathOfThePtx) {
  const fs::path path = compile_kernel(kernels::Count{}, Target{Capability::sm_87});
  EXPECT_EQ(path.extension(), ".ptx");
  EXPECT_EQ(path.parent_path().parent_path(), cache_.path() / "cache");
  EXPECT_NE(read_file(path).find(".version 7.4\n.target sm_87"), std::string::npos)
      << "the lowest version that is enough";
  EXPECT_EQ(compile_kernel(kernels::Count{}, Target{Capability::sm_87}), path);
  EXPECT_EQ(compiler_.count("compile Count"), 1);
  EXPECT_EQ(compile_kernel(kernels::Count{}, Target{Capability::sm_87}, true), path);
  EXPECT_EQ(compiler_.count("compile Count"), 2);
  EXPECT_NE(compile_kernel(kernels::Count{}, Target(Capability::sm_87, PtxVersion{8, 2})), path);
}

TEST_F(Launch, CompileKernelChecksItsTarget) {
  expect_words(error_of(
                   [&] {
                     static_cast<void>(compile_kernel(kernels::Count{},
                                                      Target(Capability::sm_87, PtxVersion{7, 3})));
                   },
                   2),
               {"7.3", "7.4"});
  expect_words(
      error_of(
          [&] { static_cast<void>(compile_kernel(kernels::Count{}, Target(Capability(6, 1)))); },
          2),
      {"sm_61", "sm_87"});
  EXPECT_EQ(compiler_.count("start"), 0);
}

TEST(Buffers, HoldWhatIsPutIntoThem) {
  const Device device = Device::cpu();
  const std::vector<f32> values = {1, 2, 3};
  Buffer<f32> a = device.buffer(values);
  Buffer<f32> b = device.buffer<f32>(values);
  EXPECT_EQ(a.to_vector(), values);
  EXPECT_EQ(b.to_vector(), values);
  EXPECT_EQ(a.size(), 3u);
  EXPECT_EQ(a.bytes(), 12u);
  EXPECT_EQ(a.address() % 64, 0u);
  a.fill_bytes(0xff);
  for (const f32 value : a.to_vector()) {
    u32 bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    EXPECT_EQ(bits, 0xffffffffu);
  }
  b.upload(std::vector<f32>{4, 5, 6});
  a = std::move(b);
  EXPECT_EQ(a.to_vector(), (std::vector<f32>{4, 5, 6}));
  const bool bits[] = {true, false, true};
  EXPECT_EQ(device.buffer(bits).to_vector(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(device.buffer<i64>(0).to_vector(), std::vector<i64>{});
  const f16 halves[] = {f16(1.5f)};
  EXPECT_EQ(device.buffer(halves).to_vector()[0].bits(), 0x3e00);
}

TEST(Buffers, RefuseAnotherNumberOfElements) {
  Buffer<i32> buffer = Device::cpu().buffer<i32>(3);
  std::vector<i32> four(4);
  EXPECT_THROW(buffer.upload(four), Error);
  EXPECT_THROW(buffer.download(four), Error);
  EXPECT_THROW(static_cast<void>(buffer.pointer(4)), Error);
  EXPECT_EQ(buffer.pointer(2).address, buffer.address() + 8);
  EXPECT_THROW(
      static_cast<void>(Device::cpu().buffer<i64>(std::numeric_limits<std::size_t>::max() / 4)),
      Error);
}

TEST(Devices, AreOpenedByName) {
  EXPECT_EQ(Device::open("cpu").name(), "cpu");
  EXPECT_EQ(Device::open("cpu"), Device::cpu());
  EXPECT_EQ(Device::cpu().kind(), DeviceKind::cpu);
  EXPECT_FALSE(Device::cpu().facts());
  for (const char* name :
       {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999", "cpu:0"}) {
    try {
      static_cast<void>(Device::open(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      EXPECT_NE(error.next().find("cuda:N"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace teeny
