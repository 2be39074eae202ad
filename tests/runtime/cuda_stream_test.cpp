// Streams and memory of CUDA alone, against the played driver.

#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/stream_pool.hpp"
#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

using test::counted;
using test::Variable;

class CudaStreams : public test::DeviceTest {};

TEST_F(CudaStreams, AMissingWaitShowsInThePlayedDriver) {
  // The tests above would pass on a driver that does everything at once; this one does not.
  const Device device = cuda();
  const Stream first = device.stream();
  const Stream second = device.stream();
  Buffer<i32> log = empty_log(device);
  first.launch(kernels::Append{}, grid(1), log, 1);
  second.launch(kernels::Append{}, grid(1), log, 2);
  second.synchronize();
  first.synchronize();
  EXPECT_EQ(appended(log), (std::vector<i32>{2, 1}));
  EXPECT_FALSE([&] {
    first.launch(kernels::Append{}, grid(1), log, 3);
    return first.done();
  }());
  first.synchronize();
}

TEST_F(CudaStreams, ForeignStreamsAreUsedAndNotDestroyed) {
  const Device device = cuda();
  const Stream own = device.stream();
  const long long streams = driver_.live("stream");
  {
    const Stream wrapped = Stream::wrap(device, own.native());
    EXPECT_EQ(wrapped.native(), own.native());
    Buffer<i32> log = empty_log(device);
    own.launch(kernels::Append{}, grid(1), log, 1);
    wrapped.launch(kernels::Append{}, grid(1), log, 2);
    own.launch(kernels::Append{}, grid(1), log, 3);
    wrapped.synchronize();
    EXPECT_EQ(appended(log), counted(1, 3));
    const Stream legacy = Stream::wrap(device, nullptr);
    legacy.launch(kernels::Append{}, grid(1), log, 4);
    legacy.synchronize();
    EXPECT_EQ(appended(log), counted(1, 4));
  }
  EXPECT_EQ(driver_.live("stream"), streams);
  const Variable two("FAKE_CUDA_DEVICES", "2");
  const Device other = cuda(1);
  expect_words(error_of([&] { static_cast<void>(Stream::wrap(other, own.native())); }, 2),
               {"cuda:1", "another context", "primary"});
  expect_words(error_of([&] { static_cast<void>(Stream::wrap(cpu(), own.native())); }, 2), {"cpu"});
}

TEST_F(CudaStreams, ForeignPointersAreCheckedAndUsed) {
  const Device device = cuda();
  Buffer<i32> owned = device.buffer<i32>(8);
  auto* raw = reinterpret_cast<i32*>(owned.address());
  const auto camera = BufferView<i32>::wrap(device, raw + 2, 6);
  owned.fill_bytes(0);
  device.launch(kernels::Fill{}, grid(6), camera);
  EXPECT_EQ(owned.to_vector(), (std::vector<i32>{0, 0, 7, 7, 7, 7, 7, 7}));
  expect_words(error_of([&] { static_cast<void>(BufferView<i32>::wrap(device, raw + 2, 7)); }, 2),
               {"wanted 28 bytes", "found 24"});
  i32 host = 0;
  expect_words(error_of([&] { static_cast<void>(BufferView<i32>::wrap(device, &host, 1)); }, 2),
               {"does not know", "cudaMalloc"});
  const Variable two("FAKE_CUDA_DEVICES", "2");
  const Device other = cuda(1);
  expect_words(error_of([&] { static_cast<void>(BufferView<i32>::wrap(other, raw, 1)); }, 2),
               {"cuda:1", "found memory of cuda:0"});
}

TEST_F(CudaStreams, TwoDevicesWorkBesideOneAnother) {
  const Variable two("FAKE_CUDA_DEVICES", "2");
  const Variable chips("FAKE_CUDA_CAPABILITY", "90,87");
  EXPECT_EQ(Device::cuda_count(), 2);
  const Device first = cuda(0);
  const Device second = cuda(1);
  EXPECT_EQ(first.facts()->capability, Capability::sm_90);
  EXPECT_EQ(second.facts()->capability, Capability::sm_87);
  Buffer<i32> a = first.buffer<i32>(4);
  Buffer<i32> b = second.buffer<i32>(4);
  a.upload(std::vector<i32>{1, 2, 3, 4});
  first.launch(kernels::Scale{}, grid(4), a, a, 2);
  const Event ready = first.default_stream().record();
  const Stream there = second.stream();
  there.wait(ready);
  there.copy(b, a);
  there.launch(kernels::Scale{}, grid(4), b, b, 10);
  there.synchronize();
  EXPECT_EQ(b.to_vector(), (std::vector<i32>{20, 40, 60, 80}));
  // And with the CPU.
  const Device host = cpu();
  Buffer<i32> c = host.buffer<i32>(4);
  there.copy(c, b);
  there.synchronize();
  EXPECT_EQ(c.to_vector(), (std::vector<i32>{20, 40, 60, 80}));
  expect_words(error_of([&] { host.stream().copy(c, b); }, 2), {"cpu", "cuda:1"});
  expect_words(error_of([&] { first.stream().copy(c, b); }, 2), {"cuda:0"});
}

TEST_F(CudaStreams, TheCpuWaitsForTheEventsOfOthers) {
  const Device device = cuda();
  const Device host = cpu();
  const Stream theirs = device.stream();
  const Stream ours = host.stream();
  Buffer<i32> log = device.buffer<i32>(2, Memory::mapped);
  log.host()[0] = 0;
  theirs.launch(kernels::Append{}, grid(1), log, 5);
  const Event written = theirs.record();
  Buffer<i32> copy = host.buffer<i32>(2);
  ours.wait(written);
  ours.upload(copy, log.host());  // done at once, so its turn has to have come
  EXPECT_EQ(copy.to_vector(), (std::vector<i32>{1, 5}));
  const Variable fault("FAKE_CUDA_FAULT", "Append=700");
  theirs.launch(kernels::Append{}, grid(1), log, 6);
  const Event failed = theirs.record();
  expect_words(error_of([&] { ours.wait(failed); }, 1), {"cuda:0", "earlier failed"});
}

TEST_F(CudaStreams, ACaptureIsOfOneKindOfDevice) {
  const Device device = cuda();
  const Device host = cpu();
  const Stream theirs = device.stream();
  const Stream ours = host.stream();
  expect_words(
      error_of(
          [&] {
            static_cast<void>(theirs.capture([&](const Stream& s) { ours.wait(s.record()); }));
          },
          2),
      {"cpu", "cuda:0", "capture"});
  expect_words(
      error_of(
          [&] {
            static_cast<void>(ours.capture([&](const Stream& s) { theirs.wait(s.record()); }));
          },
          2),
      {"cpu", "cuda:0", "capture"});
  theirs.synchronize();  // both are themselves again
  ours.synchronize();
}

TEST_F(CudaStreams, AnotherLibrarysContextIsPutBack) {
  const Variable two("FAKE_CUDA_DEVICES", "2");
  const Device first = cuda(0);
  const auto& driver = detail::cuda::Driver::instance();
  detail::cuda::Context theirs = nullptr;
  ASSERT_EQ(driver.context_retain(&theirs, 1), 0);
  ASSERT_EQ(driver.context_set(theirs), 0);
  Buffer<i32> log = empty_log(first);
  first.launch(kernels::Append{}, grid(1), log, 1);
  first.synchronize();
  detail::cuda::Context current = nullptr;
  ASSERT_EQ(driver.context_get(&current), 0);
  EXPECT_EQ(current, theirs);
  EXPECT_EQ(appended(log), counted(1, 1));
}

TEST_F(CudaStreams, WithoutPoolsOfTheDriverThereAreOurs) {
  const Variable none("FAKE_CUDA_ATTRIBUTES", "115=0");
  const Device device = cuda();
  EXPECT_FALSE(device.attributes().memory_pools);
  const Stream first = device.stream();
  const Stream second = device.stream();
  const long long allocations = driver_.calls("cuMemAlloc_v2");
  Buffer<i32> log = empty_log(device);
  u64 address = 0;
  {
    Buffer<i32> a = first.buffer<i32>(100);
    address = a.address();
    first.launch(kernels::Append{}, grid(1), log, 1);
  }
  // The same stream gets it at once; another one waits for the work that used it.
  const long long waits = driver_.calls("cuStreamWaitEvent");
  EXPECT_EQ(first.buffer<i32>(90).address(), address) << "sizes are rounded up";
  EXPECT_EQ(driver_.calls("cuStreamWaitEvent"), waits + 1)
      << "a stream may have the handle of another one that was destroyed before its work was done";
  Buffer<i32> b = second.buffer<i32>(100);
  EXPECT_EQ(b.address(), address);
  second.launch(kernels::Append{}, grid(1), log, 2);
  second.synchronize();
  EXPECT_EQ(appended(log), counted(1, 2));
  for (int i = 0; i < 100; ++i) static_cast<void>(first.buffer<i32>(1000));
  EXPECT_LE(driver_.calls("cuMemAlloc_v2") - allocations, 4);
  b = first.buffer<i32>(1);
  const long long before = driver_.live("device bytes");
  device.trim_memory();
  EXPECT_LT(driver_.live("device bytes"), before);
}

TEST_F(CudaStreams, WhatPoolsKeepIsGivenBackBeforeMemoryRunsOut) {
  const Variable memory("FAKE_CUDA_MEMORY", "1048576");
  for (const char* pools : {"115=1", "115=0"}) {
    const Variable attributes("FAKE_CUDA_ATTRIBUTES", pools);
    const Device device = cuda();
    const Stream stream = device.stream();
    static_cast<void>(stream.buffer<u8>(600000));
    EXPECT_NO_THROW(static_cast<void>(device.buffer<u8>(800000))) << pools;
    expect_words(error_of([&] { static_cast<void>(stream.buffer<u8>(2000000)); }, 1),
                 {"2000000 bytes", "of its 1048576 free"});
    device.trim_memory();
  }
}

TEST_F(CudaStreams, PoolSizesAreFewAndClose) {
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 34); bytes = bytes * 9 / 8 + 1) {
    const std::size_t size = detail::StreamPool::rounded(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LT(size, bytes + std::max<std::size_t>(512, bytes / 8 + 1));
    EXPECT_EQ(detail::StreamPool::rounded(size), size);
  }
}

TEST_F(CudaStreams, SynchronousLaunchesNameTheKernelAtFault) {
  const Device device = cuda();
  EXPECT_FALSE(device.synchronous());
  {
    const Variable set("TEENY_SYNC", "1");
    EXPECT_TRUE(cuda().synchronous());
    const Variable odd("TEENY_SYNC", "yes");
    expect_words(error_of([] { static_cast<void>(cuda()); }, 2), {"TEENY_SYNC", "yes"});
  }
  device.set_synchronous(true);
  Buffer<i32> log = empty_log(device);
  device.launch(kernels::Append{}, grid(1), log, 1);
  const Variable fault("FAKE_CUDA_FAULT", "Fill=700");
  expect_words(error_of([&] { device.launch(kernels::Fill{}, grid(4), log); }, 1),
               {"kernel Fill failed on device cuda:0", "CUDA_ERROR_ILLEGAL_ADDRESS"});
}

}  // namespace
}  // namespace teeny
