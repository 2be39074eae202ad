// Failures of the driver, injected into each call: every one is an error with the driver's name for
// it, nothing crashes, and nothing is left behind.

#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

using test::Variable;

class CudaFaults : public test::DeviceTest {
 protected:
  // Uses everything once.
  static void everything() {
    const Device device = cuda();
    static_cast<void>(device.memory());
    const Stream stream = device.stream();
    static_cast<void>(Stream::wrap(device, stream.native()));
    Buffer<i32> a = device.buffer<i32>(4);
    Buffer<i32> mapped = device.buffer<i32>(4, Memory::mapped);
    HostBuffer<i32> host = device.host_buffer<i32>(4);
    for (i32& value : host) value = 2;
    static_cast<void>(BufferView<i32>::wrap(device, reinterpret_cast<i32*>(a.address()), 4));
    Buffer<i32> pooled = stream.buffer<i32>(4);
    if (device.attributes().concurrent_managed_access) {
      Buffer<i32> managed = device.buffer<i32>(4, Memory::managed);
      stream.prefetch(managed);
      stream.synchronize();
    }
    stream.upload(a, host.span());
    stream.copy(pooled, a);
    stream.fill_bytes(mapped, 0);
    stream.launch(kernels::Scale{}, grid(4), pooled, mapped, 3);
    stream.download(mapped, host.span());
    const Event event = stream.record();
    device.default_stream().wait(event);
    static_cast<void>(event.done());
    event.synchronize();
    stream.synchronize();
    static_cast<void>(stream.done());
    EXPECT_EQ(host[3], 6);
    const Event end = stream.record();
    end.synchronize();
    static_cast<void>(elapsed_ms(event, end));
    const Graph graph =
        stream.capture([&](const Stream& s) { s.launch(kernels::Scale{}, grid(4), a, mapped, 4); });
    graph.update(0, kernels::Scale{}, grid(4), a, mapped, 5);
    graph.launch(stream);
    stream.synchronize();
    EXPECT_EQ(mapped.host()[0], 10);
    device.synchronize();
    device.trim_memory();
  }

  Variable chip_{"FAKE_CUDA_CAPABILITY", "90"};
};

TEST_F(CudaFaults, NothingIsWrongWithoutOne) { everything(); }

TEST_F(CudaFaults, EachCallThatFailsIsAnError) {
  everything();  // compiles the kernels
  for (const char* call : {"cuDeviceGetCount",
                           "cuDeviceGet",
                           "cuDeviceGetName",
                           "cuDriverGetVersion",
                           "cuDeviceGetAttribute",
                           "cuDevicePrimaryCtxRetain",
                           "cuStreamCreate",
                           "cuMemGetInfo_v2",
                           "cuStreamGetCtx",
                           "cuMemAlloc_v2",
                           "cuMemHostAlloc",
                           "cuMemHostGetDevicePointer_v2",
                           "cuPointerGetAttribute",
                           "cuMemPoolCreate",
                           "cuMemPoolSetAttribute",
                           "cuMemAllocFromPoolAsync",
                           "cuMemAllocManaged",
                           "cuMemPrefetchAsync",
                           "cuMemcpyHtoDAsync_v2",
                           "cuMemcpyDtoDAsync_v2",
                           "cuMemsetD8Async",
                           "cuModuleLoadDataEx",
                           "cuModuleGetFunction",
                           "cuFuncGetAttribute",
                           "cuLaunchKernel",
                           "cuMemcpyDtoHAsync_v2",
                           "cuEventCreate",
                           "cuEventRecord",
                           "cuStreamWaitEvent",
                           "cuEventQuery",
                           "cuEventSynchronize",
                           "cuStreamSynchronize",
                           "cuStreamQuery",
                           "cuEventElapsedTime",
                           "cuStreamBeginCapture_v2",
                           "cuStreamGetCaptureInfo_v2",
                           "cuStreamEndCapture",
                           "cuGraphInstantiateWithFlags",
                           "cuGraphExecKernelNodeSetParams",
                           "cuGraphLaunch",
                           "cuCtxSynchronize",
                           "cuMemPoolTrimTo"}) {
    const Variable fail("FAKE_CUDA_FAIL", std::string(call) + "=719");
    EXPECT_GT(driver_.calls(call), 0) << call << " is not among everything";
    const std::string said = error_of([] { everything(); });
    EXPECT_TRUE(said.find("719") != std::string::npos ||
                said.find("does not know") != std::string::npos)
        << call << ": " << said;
  }
}

TEST_F(CudaFaults, NothingIsLeftBehind) {
  const auto alive = [&] {
    std::vector<long long> all;
    for (const char* kind : {"device bytes", "pool bytes", "managed bytes", "host bytes",
                             "registered bytes", "event", "graph", "graph exec", "module"}) {
      all.push_back(driver_.live(kind));
    }
    return all;
  };
  everything();
  const auto before = alive();
  for (int i = 0; i < 10; ++i) {
    everything();
    for (const char* fault :
         {"cuLaunchKernel=1", "cuGraphInstantiateWithFlags=2", "cuStreamGetCaptureInfo_v2=1",
          "cuModuleGetFunction=500", "cuMemHostGetDevicePointer_v2=1", "cuMemcpyDtoHAsync_v2=1"}) {
      const Variable fail("FAKE_CUDA_FAIL", fault);
      static_cast<void>(error_of([] { everything(); }));
    }
  }
  // Every device opened keeps its kernel (and what its pool holds); nothing else stays.
  auto after = alive();
  EXPECT_GE(after.back(), before.back());
  after.back() = before.back();
  EXPECT_EQ(after, before);
}

TEST_F(CudaFaults, ABrokenContextSaysSoAtEachWait) {
  const Device device = cuda();
  Buffer<i32> a = device.buffer<i32>(4);
  const Variable fault("FAKE_CUDA_FAULT", "Fill=700");
  device.launch(kernels::Fill{}, grid(4), a);  // goes wrong later
  for (const auto& wait : std::vector<std::function<void()>>{
           [&] { device.synchronize(); }, [&] { static_cast<void>(a.to_vector()); },
           [&] { device.default_stream().synchronize(); },
           [&] { static_cast<void>(device.default_stream().done()); }}) {
    expect_words(error_of(wait, 1),
                 {"cuda:0", "earlier failed", "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "TEENY_SYNC=1"});
  }
}

TEST_F(CudaFaults, ThousandLoadsAndAHundredThousandLaunchesLeaveNothing) {
  const Device device = cuda();
  Buffer<i32> a = device.buffer<i32>(1);
  device.launch(kernels::Fill{}, grid(1), a);
  device.synchronize();
  const long long bytes = driver_.live("device bytes");
  for (int i = 0; i < 1000; ++i) {
    device.unload_kernels();
    static_cast<void>(device.prepare(kernels::Fill{}));
  }
  EXPECT_EQ(driver_.live("module") - 1, 0);
  const long long launches = driver_.calls("cuLaunchKernel");
  for (int i = 0; i < 100000; ++i) {
    device.launch(kernels::Fill{}, grid(1), a);
    if (i % 1000 == 0) device.synchronize();
  }
  device.synchronize();
  EXPECT_EQ(driver_.calls("cuLaunchKernel") - launches, 100000);
  EXPECT_EQ(driver_.live("device bytes"), bytes);
  EXPECT_EQ(a.to_vector(), std::vector<i32>{7});
}

}  // namespace
}  // namespace teeny
