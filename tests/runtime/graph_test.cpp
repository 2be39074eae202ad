// Graphs, on every device.

#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

class Graphs : public test::EachDeviceTest {};
INSTANTIATE_TEST_SUITE_P(All, Graphs, testing::Values("cpu", "cuda"));

TEST_P(Graphs, ReplayWhatWasCaptured) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  const Graph graph = stream.capture([&](const Stream& s) {
    for (i32 i = 1; i <= 3; ++i) s.launch(kernels::Append{}, grid(1), log, i);
  });
  stream.synchronize();
  EXPECT_TRUE(appended(log).empty()) << "capturing does nothing";
  EXPECT_EQ(graph.launches(), 3u);
  stream.launch(kernels::Append{}, grid(1), log, 0);
  for (int i = 0; i < 2; ++i) graph.launch(stream);
  stream.launch(kernels::Append{}, grid(1), log, 9);
  stream.synchronize();
  EXPECT_EQ(appended(log), (std::vector<i32>{0, 1, 2, 3, 1, 2, 3, 9}));
}

TEST_P(Graphs, AHundredLaunchesCostOne) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  const Graph graph = stream.capture([&](const Stream& s) {
    for (i32 i = 0; i < 100; ++i) s.launch(kernels::Append{}, grid(1), log, i);
  });
  const long long launches = driver_.calls("cuLaunchKernel");
  graph.launch(stream);
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), launches);
  stream.synchronize();
  EXPECT_EQ(appended(log).size(), 100u);
}

TEST_P(Graphs, TakeNewArgumentsWithoutANewCapture) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> a = device.buffer(std::vector<i32>{1, 2, 3, 4});
  Buffer<i32> b = device.buffer<i32>(4);
  Buffer<i32> c = device.buffer<i32>(4);
  c.fill_bytes(0);
  device.synchronize();
  const Graph graph = stream.capture([&](const Stream& s) {
    s.launch(kernels::Scale{}, grid(4), a, b, 10);
    s.launch(kernels::Scale{}, grid(4), b, b, 2);
  });
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(b.to_vector(), (std::vector<i32>{20, 40, 60, 80}));
  graph.launch(stream);  // what is asked for already keeps its arguments
  graph.update(0, kernels::Scale{}, grid(2), a.view(2, 2), b, 100);
  graph.update(1, kernels::Scale{}, grid(2), b, c.view(1, 2), 3);
  stream.synchronize();
  EXPECT_EQ(b.to_vector(), (std::vector<i32>{20, 40, 60, 80}));
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(c.to_vector(), (std::vector<i32>{0, 900, 1200, 0}));
  expect_words(error_of([&] { graph.update(2, kernels::Scale{}, grid(1), a, b, 1); }, 2),
               {"2 launches", "number 2"});
  expect_words(error_of([&] { graph.update(0, kernels::Fill{}, grid(1), a); }, 2),
               {"kernel Scale", "Fill", "new capture"});
  expect_words(error_of([&] { graph.update(0, kernels::Scale{}, grid(0), a, b, 1); }, 2),
               {"wanted 1 to"});
  expect_words(error_of([&] { graph.update(0, kernels::Scale{}, grid(1), a, b, 1LL << 33); }, 2),
               {"argument 3"});
}

TEST_P(Graphs, HoldCopiesToo) {
  const Device device = open();
  const Stream stream = device.stream();
  HostBuffer<i32> in = device.host_buffer<i32>(4);
  HostBuffer<i32> out = device.host_buffer<i32>(4);
  Buffer<i32> a = device.buffer<i32>(4);
  Buffer<i32> b = device.buffer<i32>(4);
  const Graph graph = stream.capture([&](const Stream& s) {
    s.upload(a, in.span());
    s.fill_bytes(b, 0);
    s.launch(kernels::Scale{}, grid(3), a, b, 2);
    s.copy(a, b);
    s.download(a, out.span());
  });
  for (i32 round = 1; round <= 3; ++round) {
    for (i32& value : in) value = round;
    graph.launch(stream);
    stream.synchronize();
    EXPECT_EQ(std::vector<i32>(out.begin(), out.end()),
              (std::vector<i32>{2 * round, 2 * round, 2 * round, 0}));
  }
}

TEST_P(Graphs, AreCarriedToOtherStreamsByEvents) {
  const Device device = open();
  const Stream stream = device.stream();
  const Stream beside = device.stream();
  Buffer<i32> a = device.buffer(std::vector<i32>{1, 2});
  Buffer<i32> b = device.buffer<i32>(2);
  Buffer<i32> c = device.buffer<i32>(2);
  const Graph graph = stream.capture([&](const Stream& s) {
    const Event fork = s.record();
    beside.wait(fork);
    beside.launch(kernels::Scale{}, grid(2), a, c, 5);
    s.launch(kernels::Scale{}, grid(2), a, b, 3);
    s.wait(beside.record());
    s.launch(kernels::Scale{}, grid(2), c, c, 2);
  });
  EXPECT_EQ(graph.launches(), 3u);
  beside.launch(kernels::Fill{}, grid(2), c);  // the capture is over for both
  beside.synchronize();
  EXPECT_EQ(c.to_vector(), (std::vector<i32>{7, 7}));
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(b.to_vector(), (std::vector<i32>{3, 6}));
  EXPECT_EQ(c.to_vector(), (std::vector<i32>{10, 20}));
}

TEST_P(Graphs, RefuseWhatCannotBeRecorded) {
  const Device device = open();
  const Stream stream = device.stream();
  const Stream beside = device.stream();
  Buffer<i32> a = device.buffer(std::vector<i32>{1, 2});
  const Event outside = beside.record();
  const Graph other = stream.capture([](const Stream&) {});
  for (const auto& bad : std::vector<std::function<void(const Stream&)>>{
           [](const Stream& s) { s.synchronize(); },
           [](const Stream& s) { static_cast<void>(s.done()); },
           [](const Stream& s) { static_cast<void>(s.buffer<i32>(1)); },
           [](const Stream& s) { static_cast<void>(s.capture([](const Stream&) {})); },
           [&](const Stream& s) { s.wait(outside); }, [&](const Stream& s) { other.launch(s); },
           [](const Stream& s) { s.record().synchronize(); }}) {
    expect_words(error_of([&] { static_cast<void>(stream.capture(bad)); }, 2), {"captur"});
    // The stream is itself again.
    stream.launch(kernels::Scale{}, grid(2), a, a, 1);
    stream.synchronize();
  }
}

TEST_P(Graphs, DoNotGiveBackMemoryThatIsLetGoInThem) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  auto pooled = std::make_unique<Buffer<i32>>(stream.buffer<i32>(4));
  const Graph graph = stream.capture([&](const Stream& s) {
    s.launch(kernels::Append{}, grid(1), log, 1);
    pooled.reset();
  });
  EXPECT_EQ(driver_.live("pool bytes"), 0) << "afterwards";
  for (int i = 0; i < 2; ++i) graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(appended(log), (std::vector<i32>{1, 1}));
}

TEST_P(Graphs, EndWithWhatIsThrownInThem) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  EXPECT_THROW(static_cast<void>(stream.capture([&](const Stream& s) {
                 s.launch(kernels::Append{}, grid(1), log, 1);
                 throw std::runtime_error("on purpose");
               })),
               std::runtime_error);
  stream.launch(kernels::Append{}, grid(1), log, 2);
  stream.synchronize();
  EXPECT_EQ(appended(log), std::vector<i32>{2});
}

TEST_P(Graphs, OfOneDeviceAreNotForAnother) {
  const Device device = open();
  const Stream stream = device.stream();
  const Graph graph = stream.capture([](const Stream&) {});
  EXPECT_EQ(graph.launches(), 0u);
  graph.launch(stream);
  static_cast<void>(error_of([&] { graph.launch(open().stream()); }, 2));
  stream.synchronize();
}

TEST_P(Graphs, LeaveNoMomentInAnEventThatWasCaptured) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  const Event before = stream.record();
  const Event inside(device);
  const Graph graph = stream.capture([&](const Stream& s) {
    s.launch(kernels::Append{}, grid(1), log, 1);
    s.record(inside);
  });
  graph.launch(stream);
  stream.synchronize();
  for (const auto& bad : std::vector<std::function<void()>>{
           [&] { inside.synchronize(); }, [&] { static_cast<void>(inside.done()); },
           [&] { static_cast<void>(elapsed_ms(before, inside)); }, [&] { stream.wait(inside); }}) {
    expect_words(error_of(bad, 2), {"captur", "record"});
  }
  stream.record(inside);  // now it has one
  inside.synchronize();
  EXPECT_GE(elapsed_ms(before, inside), 0.0);
}

TEST_P(Graphs, LeaveNothingBehind) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  const long long graphs = driver_.live("graph");
  const long long execs = driver_.live("graph exec");
  const long long events = driver_.live("event");
  for (int i = 0; i < 20; ++i) {
    const Graph graph =
        stream.capture([&](const Stream& s) { s.launch(kernels::Append{}, grid(1), log, 1); });
    graph.launch(stream);
    stream.wait(stream.record());
  }
  stream.synchronize();
  EXPECT_EQ(driver_.live("graph"), graphs);
  EXPECT_EQ(driver_.live("graph exec"), execs);
  EXPECT_EQ(driver_.live("event"), events);
}

}  // namespace
}  // namespace teeny
