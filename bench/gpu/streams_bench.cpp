// Right results under concurrency: two threads on two streams, and on two devices where there are
// two. Exit code 1 for a wrong number.
//
//   streams_bench [rounds=500]

#include <atomic>
#include <cstdio>
#include <thread>

#include "kernels.hpp"
#include "measure.hpp"

namespace {

using namespace teeny;

constexpr int count = 1 << 16;

// Uploads, runs a chain of launches on pooled memory, downloads, compares; counts what is wrong.
void work(const Device& device, int seed, int rounds, std::atomic<long long>& wrong) {
  const Stream stream = device.stream();
  HostBuffer<i32> in = device.host_buffer<i32>(count);
  HostBuffer<i32> out = device.host_buffer<i32>(count);
  const Grid blocks = grid(cdiv(count, 1024));
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = (i * 7 + seed + round) % 1000;
    Buffer<i32> a = stream.buffer<i32>(count);
    Buffer<i32> b = stream.buffer<i32>(count);
    stream.upload(a, in.span());
    stream.launch(bench::Scale{}, blocks, a, b, seed, count);
    stream.launch(bench::Scale{}, blocks, b, a, 3, count);
    stream.download(a, out.span());
    const Event done = stream.record();
    done.synchronize();
    for (int i = 0; i < count; ++i) {
      const int want = ((i * 7 + seed + round) % 1000 * seed + 1) * 3 + 1;
      wrong += out[static_cast<std::size_t>(i)] != want;
    }
  }
}

bool report(const char* what, long long wrong, double seconds) {
  std::printf("| %s | %lld | %.2f |\n", what, wrong, seconds);
  return wrong == 0;
}

int main_on(Program& program) {
  const int rounds = bench::option(program.arguments(), "rounds", 500);
  const Device device = program.device();
  std::printf("%s\n\n| what | wrong numbers | s |\n|---|---|---|\n", device.description().c_str());
  const auto both = [&](const Device& second) {
    std::atomic<long long> wrong{0};
    const auto start = bench::Clock::now();
    std::thread other([&] { work(second, 11, rounds, wrong); });
    work(device, 5, rounds, wrong);
    other.join();
    return std::pair{wrong.load(), bench::microseconds_since(start) / 1e6};
  };
  const auto [wrong, seconds] = both(device);
  bool good = report("two threads, two streams", wrong, seconds);
  if (device.kind() == DeviceKind::cuda && Device::cuda_count() > 1) {
    const Device second = Device::cuda(1);
    const auto [wrong_too, seconds_too] = both(second);
    good = report("two threads, two devices", wrong_too, seconds_too) && good;
    // And from one device to the other.
    Buffer<i32> here = device.buffer(std::vector<i32>{1, 2, 3, 4});
    Buffer<i32> there = second.buffer<i32>(4);
    const Event ready = device.default_stream().record();
    second.default_stream().wait(ready);
    second.default_stream().copy(there, here);
    const bool same = there.to_vector() == std::vector<i32>{1, 2, 3, 4};
    good = report("a copy between two devices", same ? 0 : 4, 0) && good;
  } else {
    std::printf("| two devices | not run: there is one | |\n");
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }
