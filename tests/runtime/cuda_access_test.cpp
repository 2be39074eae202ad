// Memory that host and device share, as the attributes of a played CUDA device allow it (P45, P46).

#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

using test::Variable;

class CudaAccess : public test::DeviceTest {};

TEST_F(CudaAccess, P45_WhereTheHostMayNotTouchManagedMemoryItIsMapped) {
  const long long managed = driver_.calls("cuMemAllocManaged");
  for (const char* chip : {"72", "87", "110"}) {
    const Variable capability("FAKE_CUDA_CAPABILITY", chip);
    const Device device = cuda();
    EXPECT_FALSE(device.attributes().concurrent_managed_access);
    EXPECT_EQ(device.shared_memory(), Memory::mapped);
    Buffer<i32> a = device.buffer<i32>(4, device.shared_memory());
    device.launch(kernels::Fill{}, grid(4), a);
    device.synchronize();
    EXPECT_EQ(a.host()[3], 7);
    const std::string said =
        error_of([&] { static_cast<void>(device.buffer<i32>(4, Memory::managed)); }, 1);
    expect_words(
        said, {"managed memory", "cuda:0", "concurrent managed access", "device.shared_memory()"});
  }
  EXPECT_EQ(driver_.calls("cuMemAllocManaged"), managed);
  const Variable server("FAKE_CUDA_CAPABILITY", "90");
  const Device device = cuda();
  EXPECT_EQ(device.shared_memory(), Memory::managed);
  Buffer<i32> a = device.buffer<i32>(4, device.shared_memory());
  device.launch(kernels::Fill{}, grid(4), a);
  device.synchronize();
  EXPECT_EQ(a.host()[3], 7);
  EXPECT_EQ(driver_.calls("cuMemAllocManaged"), managed + 1);
}

TEST_F(CudaAccess, P46_NothingIsPrefetchedWhereTheDeviceSaysNo) {
  const long long before = driver_.calls("cuMemPrefetchAsync");
  {
    const Variable xavier("FAKE_CUDA_CAPABILITY", "72");
    const Device device = cuda();
    Buffer<i32> shared = device.buffer<i32>(4, device.shared_memory());
    Buffer<i32> plain = device.buffer<i32>(4);
    EXPECT_NO_THROW(device.default_stream().prefetch(shared));
    EXPECT_NO_THROW(device.default_stream().prefetch(plain));
    // Not even memory that calls itself managed.
    EXPECT_NO_THROW(detail::prefetch(detail::default_stream(device.state()), shared.address(), 16,
                                     Memory::managed));
    device.synchronize();
  }
  EXPECT_EQ(driver_.calls("cuMemPrefetchAsync"), before);
  const Variable server("FAKE_CUDA_CAPABILITY", "90");
  const Device device = cuda();
  Buffer<i32> shared = device.buffer<i32>(4, device.shared_memory());
  device.default_stream().prefetch(shared);
  device.synchronize();
  EXPECT_EQ(driver_.calls("cuMemPrefetchAsync"), before + 1);
}

TEST_F(CudaAccess, P45_WhereHostMemoryCannotBeRegisteredAnAskForItIsNoticed) {
  const Variable check("TEENY_CHECK_ACCESS", "1");
  const Variable attributes("FAKE_CUDA_ATTRIBUTES", "99=0");
  const Device device = cuda();
  Buffer<i32> a = device.buffer<i32>(4, Memory::mapped);
  device.launch(kernels::Fill{}, grid(4), a);
  expect_words(error_of([&] { static_cast<void>(a.host()); }, 2),
               {"kernel Fill on cuda:0 may still use", "synchronize"});
  device.synchronize();
  EXPECT_EQ(a.host()[3], 7);
}

TEST(SharedMemory, IsTheKindThatTheAttributesAllow) {
  DeviceAttributes server;
  server.managed_memory = true;
  server.concurrent_managed_access = true;
  server.maps_host_memory = true;
  EXPECT_EQ(shared_memory(server), Memory::managed);
  DeviceAttributes windows = server;
  windows.concurrent_managed_access = false;
  EXPECT_EQ(shared_memory(windows), Memory::mapped);
  DeviceAttributes thor = server;  // integrated, whatever else it says
  thor.integrated = true;
  EXPECT_EQ(shared_memory(thor), Memory::mapped);
  DeviceAttributes old = server;
  old.managed_memory = false;
  EXPECT_EQ(shared_memory(old), Memory::mapped);
}

}  // namespace
}  // namespace teeny
