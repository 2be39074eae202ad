// The host touching memory that it shares with a device too early (P45), on every device.

#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

using test::Variable;

class Access : public test::EachDeviceTest {
 protected:
  Access() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  // A sanitizer makes an exit code of a signal.
  static bool ended_badly(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

  Variable check_{"TEENY_CHECK_ACCESS", "1"};
#ifndef TEENY_TEST_REAL_DEVICES
  // A process that a test lets die removes nothing: what it makes lies in what this one removes.
  Variable temporary_{"TMPDIR", cache_.path().string()};
#endif
};
INSTANTIATE_TEST_SUITE_P(All, Access, testing::Values("cpu", "cuda"));

TEST_P(Access, P45_ATouchBetweenLaunchAndWaitEndsTheProgramNamingTheKernel) {
  const auto early = [] {
    const Device device = open();
    Buffer<i32> a = device.buffer<i32>(4, Memory::mapped);
    const std::span<i32> host = a.host();  // asked for in time, touched too early
    host[0] = 1;
    device.launch(kernels::Fill{}, grid(4), a);
    std::exit(host[0] == 12345 ? 1 : 0);
  };
  EXPECT_EXIT(early(), ended_badly,
              "the host touched mapped memory \\(16 bytes\\) that kernel Fill on (cpu|cuda:0) may "
              "still use(.|\n)*synchronize");
}

TEST_P(Access, P45_AfterTheWaitItIsTheHostsAgain) {
  const Device device = open();
  const Stream stream = device.stream();
  const Stream other = device.stream();
  Buffer<i32> a = device.buffer<i32>(4, Memory::mapped);
  Buffer<i32> b = device.buffer<i32>(4, Memory::mapped);
  b.host()[0] = 3;
  stream.launch(kernels::Fill{}, grid(4), a);
  EXPECT_EQ(b.host()[0], 3) << "memory that the kernel does not use stays open";
  stream.synchronize();
  EXPECT_EQ(a.host()[3], 7);
  stream.launch(kernels::Fill{}, grid(4), a);
  const Event event = stream.record();
  stream.launch(kernels::Fill{}, grid(1), b);
  event.synchronize();
  EXPECT_EQ(a.host()[0], 7) << "b is still in use, a is not";
  other.wait(stream.record());
  other.synchronize();
  EXPECT_EQ(b.host()[0], 7) << "waited for by way of another stream";
  // Copies count as use, and reach what is locked.
  std::vector<i32> values = {1, 2, 3, 4};
  stream.upload(a, values);
  stream.launch(kernels::Scale{}, grid(4), a, b, 2);
  stream.copy(a, b);
  stream.download(a, b.host());
  stream.synchronize();
  EXPECT_EQ(std::vector<i32>(b.host().begin(), b.host().end()), (std::vector<i32>{2, 4, 6, 8}));
  const Graph graph =
      stream.capture([&](const Stream& s) { s.launch(kernels::Scale{}, grid(4), a, b, 5); });
  graph.launch(stream);
  device.synchronize();
  EXPECT_EQ(b.host()[3], 40);
}

TEST_P(Access, P45_StreamsThatWaitForOneAnotherInTurnCostNoMoreEachTime) {
  const Device device = open();
  const Stream first = device.stream();
  const Stream second = device.stream();
  Buffer<i32> a = device.buffer<i32>(1, Memory::mapped);
  for (int round = 0; round < 100; ++round) {
    first.launch(kernels::Fill{}, grid(1), a);
    second.wait(first.record());
    second.launch(kernels::Fill{}, grid(1), a);
    first.wait(second.record());
  }
  EXPECT_LE(first.record().state().progress.size(), 2u) << "one entry a stream";
  first.synchronize();
  EXPECT_EQ(a.host()[0], 7);
}

TEST_P(Access, P45_ACopyInFlightIsNoticedToo) {
  const auto early = [] {
    const Device device = open();
    Buffer<i32> a = device.buffer<i32>(4, Memory::mapped);
    const std::span<i32> host = a.host();
    device.default_stream().fill_bytes(a, 1);
    host[3] = 1;
    std::exit(0);
  };
  EXPECT_EXIT(early(), ended_badly, "that a copy on");
}

TEST_P(Access, WithoutTheVariableNothingIsWatched) {
  const Variable off("TEENY_CHECK_ACCESS", std::nullopt);
  const Device device = open();
  Buffer<i32> a = device.buffer<i32>(4, Memory::mapped);
  device.launch(kernels::Fill{}, grid(4), a);
  EXPECT_NE(a.host()[0], 8);
  device.synchronize();
}

}  // namespace
}  // namespace teeny
