// Streams, events, copies and the memory kinds, on every device.

#include <thread>

#include "tests/runtime/device_support.hpp"

namespace teeny {
namespace {

using test::counted;

class Streams : public test::EachDeviceTest {};
INSTANTIATE_TEST_SUITE_P(All, Streams, testing::Values("cpu", "cuda"));

TEST_P(Streams, WorkOfOneIsInOrder) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  for (i32 i = 1; i <= 100; ++i) stream.launch(kernels::Append{}, grid(1), log, i);
  stream.synchronize();
  EXPECT_EQ(appended(log), counted(1, 100));
  EXPECT_TRUE(stream.done());
}

TEST_P(Streams, AnEventOrdersTwo) {
  const Device device = open();
  const Stream first = device.stream();
  const Stream second = device.stream();
  EXPECT_NE(first, second);
  Buffer<i32> log = empty_log(device);
  for (i32 i = 1; i <= 10; i += 2) {
    first.launch(kernels::Append{}, grid(1), log, i);
    const Event reached = first.record();
    second.wait(reached);
    second.launch(kernels::Append{}, grid(1), log, i + 1);
    first.wait(second.record());
  }
  second.synchronize();
  first.synchronize();
  EXPECT_EQ(appended(log), counted(1, 10));
}

TEST_P(Streams, AnEventIsReachedWhenTheWorkBeforeItIs) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  const Event never(device);
  EXPECT_TRUE(never.done()) << "one that was never recorded";
  never.synchronize();
  stream.wait(never);
  const Event begin = stream.record();
  stream.launch(kernels::Append{}, grid(1), log, 1);
  const Event end = stream.record();
  stream.launch(kernels::Append{}, grid(1), log, 2);
  end.synchronize();
  EXPECT_TRUE(end.done());
  EXPECT_GE(elapsed_ms(begin, end), 0.0);
  stream.record(begin);  // recorded again: the later time counts
  begin.synchronize();
  EXPECT_LE(elapsed_ms(begin, end), 0.0);
  expect_words(error_of([&] { static_cast<void>(elapsed_ms(never, end)); }, 2),
               {"was not recorded"});
  EXPECT_EQ(appended(log), counted(1, 2));
}

TEST_P(Streams, AskingAgainAndAgainGetsThere) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> log = empty_log(device);
  for (i32 i = 1; i <= 5; ++i) stream.launch(kernels::Append{}, grid(1), log, i);
  const Event end = stream.record();
  while (!end.done()) {
  }
  while (!stream.done()) {
  }
  EXPECT_EQ(appended(log), counted(1, 5));
}

TEST_P(Streams, CopiesTakeTheirTurn) {
  const Device device = open();
  const Stream stream = device.stream();
  HostBuffer<i32> in = device.host_buffer<i32>(4);
  HostBuffer<i32> out = device.host_buffer<i32>(4);
  for (std::size_t i = 0; i < 4; ++i) in[i] = static_cast<i32>(i) + 1;
  Buffer<i32> a = device.buffer<i32>(4);
  Buffer<i32> b = device.buffer<i32>(4);
  stream.upload(a, in.span());
  stream.launch(kernels::Scale{}, grid(4), a, b, 10);
  stream.copy(a, b);
  stream.fill_bytes(b, 0);
  stream.launch(kernels::Scale{}, grid(2), a.view(2, 2), b.view(1, 2), 2);
  stream.download(b, out.span());
  stream.synchronize();
  EXPECT_EQ(std::vector<i32>(out.begin(), out.end()), (std::vector<i32>{0, 60, 80, 0}));
  // Memory that is not page-locked is right too.
  std::vector<i32> plain = {5, 6};
  stream.upload(a.view(0, 2), plain);
  plain = {0, 0};
  stream.download(a.view(0, 2), plain);
  stream.synchronize();
  EXPECT_EQ(plain, (std::vector<i32>{5, 6}));
}

TEST_P(Streams, CopiesOfAnotherSizeAreRefused) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> four = device.buffer<i32>(4);
  Buffer<i32> five = device.buffer<i32>(5);
  std::vector<i32> host(5);
  for (const auto& bad : std::vector<std::function<void()>>{
           [&] { stream.upload(four, host); }, [&] { stream.download(four, host); },
           [&] { stream.copy(four, five); }, [&] { stream.copy(four.view(1, 2), five.view(1, 3)); },
           [&] { static_cast<void>(four.view(3, 2)); }, [&] { static_cast<void>(four.view(5, 0)); },
           [&] { static_cast<void>(four.view().view(1, ~std::size_t{0})); }}) {
    static_cast<void>(error_of(bad, 2));
  }
  EXPECT_EQ(four.view(4, 0).size(), 0u);
  stream.upload(four.view(2, 0), std::span<const i32>());
}

TEST_P(Streams, MappedMemoryIsSeenByBothSides) {
  const Device device = open();
  const Stream stream = device.stream();
  Buffer<i32> in = device.buffer<i32>(3, Memory::mapped);
  Buffer<i32> out = device.buffer<i32>(3, Memory::mapped);
  for (i32 i = 0; i < 3; ++i) in.host()[static_cast<std::size_t>(i)] = i + 1;
  stream.launch(kernels::Scale{}, grid(3), in, out, 7);
  stream.synchronize();
  EXPECT_EQ(std::vector<i32>(out.host().begin(), out.host().end()), (std::vector<i32>{7, 14, 21}));
  EXPECT_EQ(out.to_vector(), (std::vector<i32>{7, 14, 21}));
  Buffer<i32> plain = device.buffer<i32>(3);
  expect_words(error_of([&] { static_cast<void>(plain.host()); }, 2),
               {"device memory", "download", "shared_memory"});
}

TEST_P(Streams, PooledMemoryComesAndGoesInOrder) {
  const Device device = open();
  const Stream stream = device.stream();
  for (i32 i = 0; i < 1000; ++i) {
    Buffer<i32> a = stream.buffer<i32>(8);
    Buffer<i32> b = stream.buffer<i32>(8);
    const std::vector<i32> values = counted(i, i + 7);
    stream.upload(a, values);
    stream.launch(kernels::Scale{}, grid(8), a, b, 2);
    if (i % 100 == 0) {
      const std::vector<i32> found = b.to_vector();
      EXPECT_EQ(found[7], 2 * (i + 7));
    }
  }
  stream.synchronize();
  device.trim_memory();
  EXPECT_EQ(driver_.live("pool bytes"), 0);
  EXPECT_EQ(driver_.live("cached bytes"), 0);
}

TEST_P(Streams, PooledMemoryOutlivesItsStreamObject) {
  const Device device = open();
  std::vector<i32> found;
  {
    Buffer<i32> kept = device.stream().buffer<i32>(2);
    kept.upload(std::vector<i32>{1, 2});
    found = kept.to_vector();
  }
  EXPECT_EQ(found, (std::vector<i32>{1, 2}));
  device.trim_memory();
}

TEST_P(Streams, TwoThreadsOnTwoStreamsDoNotMix) {
  const Device device = open();
  const auto work = [&](i32 factor, std::vector<i32>* found) {
    const Stream stream = device.stream();
    Buffer<i32> a = device.buffer<i32>(64);
    Buffer<i32> b = device.buffer<i32>(64);
    for (i32 round = 0; round < 50; ++round) {
      const std::vector<i32> values = counted(round, round + 63);
      stream.upload(a, values);
      stream.launch(kernels::Scale{}, grid(64), a, b, factor);
      std::vector<i32> scaled(64);
      stream.download(b, scaled);
      stream.synchronize();
      for (i32 i = 0; i < 64; ++i) {
        if (scaled[static_cast<std::size_t>(i)] != (round + i) * factor) found->push_back(round);
      }
    }
  };
  std::vector<i32> wrong[2];
  std::thread other(work, 3, &wrong[0]);
  work(5, &wrong[1]);
  other.join();
  EXPECT_TRUE(wrong[0].empty() && wrong[1].empty());
}

TEST_P(Streams, PreparedKernelsLaunchOnStreamsOfTheirDevice) {
  const Device device = open();
  const auto append = device.prepare(kernels::Append{});
  Buffer<i32> log = empty_log(device);
  const Stream stream = device.stream();
  append.launch(grid(1), log, 1);
  device.synchronize();
  append.launch(stream, grid(1), log, 2);
  stream.synchronize();
  EXPECT_EQ(appended(log), counted(1, 2));
  const Device other = open();
  expect_words(error_of([&] { append.launch(other.stream(), grid(1), log, 3); }, 2), {"stream"});
  expect_words(error_of([&] { append.launch(grid(1), log, i64{1} << 40); }, 2),
               {"Append", "argument 2", "i32"});
  expect_words(error_of([&] { append.launch(grid(0), log, 1); }, 2), {"Append", "wanted 1 to"});
}

TEST_P(Streams, UnloadedKernelsAreLoadedAgain) {
  const Device device = open();
  Buffer<i32> log = empty_log(device);
  const auto append = device.prepare(kernels::Append{});
  for (i32 i = 1; i <= 3; ++i) {
    append.launch(grid(1), log, i);
    device.unload_kernels();
    EXPECT_EQ(driver_.live("module"), 0);
  }
  device.launch(kernels::Append{}, grid(1), log, 4);
  EXPECT_EQ(appended(log), counted(1, 4));
}

TEST_P(Streams, WhatWasMovedFromHoldsNothing) {
  const Device device = open();
  Buffer<i32> from = device.buffer<i32>(4);
  HostBuffer<i32> host = device.host_buffer<i32>(4);
  const Buffer<i32> to = std::move(from);
  const HostBuffer<i32> host_to = std::move(host);
  EXPECT_EQ(to.size(), 4u);
  EXPECT_EQ(host_to.span().size(), 4u);
  EXPECT_EQ(from.size(), 0u);  // NOLINT: that is the question
  EXPECT_EQ(from.view().bytes(), 0u);
  EXPECT_TRUE(host.span().empty());
  std::vector<i32> values(4);
  static_cast<void>(error_of([&] { device.default_stream().download(from, values); }, 2));
}

TEST_P(Streams, ViewsOfMoreThanThereIsAreRefused) {
  const Device device = open();
  u64 word = 0;
  expect_words(
      error_of(
          [&] {
            static_cast<void>(BufferView<u64>::wrap(device, &word, (std::size_t{1} << 61) + 1));
          },
          2),
      {"elements"});
}

TEST_P(Streams, MemoryOfAnotherDeviceIsRefused) {
  const Device device = open();
  const Device other = open();
  Buffer<i32> here = device.buffer<i32>(4);
  Buffer<i32> there = other.buffer<i32>(4);
  std::vector<i32> host(4);
  expect_words(error_of([&] { device.launch(kernels::Fill{}, grid(4), there); }, 2),
               {"Fill", "argument 1", "wanted a buffer on device"});
  expect_words(
      error_of([&] { device.launch(kernels::Scale{}, grid(2), here, there.view(0, 2), 1); }, 2),
      {"argument 2"});
  expect_words(error_of([&] { device.stream().upload(there, host); }, 2), {"whose stream this is"});
  expect_words(error_of([&] { other.stream().record(Event(device)); }, 2), {"stream"});
}

}  // namespace
}  // namespace teeny
