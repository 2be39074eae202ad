// What a launch costs the host beside the driver's own cuLaunchKernel, and what a captured graph
// costs beside one that was made by hand.
//
//   launch_bench [batches=200] [launches=200] [replays=2000]
//
// Each batch of launches is short enough for the device's queue, and waited for outside of the
// measurement; the ways to launch take turns, batch by batch. Numbers are medians over batches.

#include <cstdio>
#include <functional>

#include "kernels.hpp"
#include "measure.hpp"
#include "raw_driver.hpp"

namespace {

using namespace teeny;

struct Way {
  const char* name;
  std::function<void(int)> launch;  // that many
  std::vector<double> microseconds = {};
};

void take_turns(std::vector<Way>& ways, int batches, int launches, const Stream& stream) {
  for (int batch = -batches / 10 - 1; batch < batches; ++batch) {  // the first ones warm up
    for (Way& way : ways) {
      const auto start = bench::Clock::now();
      way.launch(launches);
      const double took = bench::microseconds_since(start) / launches;
      stream.synchronize();
      if (batch >= 0) way.microseconds.push_back(took);
    }
  }
}

// A kernel's function, loaded without teeny.
struct RawKernel {
  template <class Kernel>
  RawKernel(const bench::RawDriver& driver, const Kernel& kernel, const Device& device)
      : code(bench::code_of(kernel, device)) {
    void* module = nullptr;
    bench::must(driver.cuModuleLoadDataEx(&module, code.code.data(), 0, nullptr, nullptr), "load");
    bench::must(driver.cuModuleGetFunction(&function, module, code.info.kernel.c_str()), "entry");
  }
  Artifact code;
  void* function = nullptr;
};

void measure_launches(const Device& device, int batches, int launches) {
  const bench::RawDriver driver;
  const Stream stream = device.stream();
  Buffer<i32> out = device.buffer<i32>(1);
  Buffer<f32> values = device.buffer(std::vector<f32>(4, 1.0f));
  const RawKernel raw(driver, bench::Tiny{}, device);
  const RawKernel raw_wide(driver, bench::Wide{}, device);
  const auto prepared = device.prepare(bench::Tiny{});
  const std::vector<bench::Chosen> chosen = bench::Chosen::variants();
  for (const auto& one : chosen) static_cast<void>(device.prepare(one));

  std::vector<Way> ways;
  ways.push_back({"raw cuLaunchKernel, 2 arguments", [&](int count) {
                    u64 address = out.address();
                    for (int i = 0; i < count; ++i) {
                      void* arguments[] = {&address, &i};
                      bench::must(driver.cuLaunchKernel(raw.function, 1, 1, 1, 32, 1, 1, 0,
                                                        stream.native(), arguments, nullptr),
                                  "launch");
                    }
                  }});
  ways.push_back({"stream.launch(Tiny{}, ...)", [&](int count) {
                    for (int i = 0; i < count; ++i) stream.launch(bench::Tiny{}, grid(1), out, i);
                  }});
  ways.push_back({"prepared.launch(...)", [&](int count) {
                    for (int i = 0; i < count; ++i) prepared.launch(stream, grid(1), out, i);
                  }});
  ways.push_back({"stream.launch(Chosen{...}, ...), one of 24", [&](int count) {
                    for (int i = 0; i < count; ++i) {
                      stream.launch(chosen[static_cast<std::size_t>(i) % chosen.size()], grid(1),
                                    out, i);
                    }
                  }});
  ways.push_back({"raw cuLaunchKernel, 8 arguments", [&](int count) {
                    u64 pointers[] = {out.address(), values.address(), values.address(),
                                      values.address()};
                    int sizes[] = {1, 2, 3};
                    float scale = 0.5f;
                    for (int i = 0; i < count; ++i) {
                      void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3],
                                           &sizes[0],    &sizes[1],    &sizes[2],    &scale};
                      bench::must(driver.cuLaunchKernel(raw_wide.function, 1, 1, 1, 32, 1, 1, 0,
                                                        stream.native(), arguments, nullptr),
                                  "launch");
                    }
                  }});
  ways.push_back({"stream.launch(Wide{}, ...)", [&](int count) {
                    for (int i = 0; i < count; ++i) {
                      stream.launch(bench::Wide{}, grid(1), out, values, values, values, 1, 2, 3,
                                    0.5f);
                    }
                  }});
  take_turns(ways, batches, launches, stream);

  std::printf("| way to launch | us, median | us beside raw |\n|---|---|---|\n");
  const double two = bench::median(ways[0].microseconds);
  const double eight = bench::median(ways[4].microseconds);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double own = bench::median(ways[i].microseconds);
    std::printf("| %s | %.3f | %+.3f |\n", ways[i].name, own, own - (i < 4 ? two : eight));
  }
}

// A chain of 100 small kernels.
void measure_graphs(const Device& device, int replays) {
  const bench::RawDriver driver;
  const Stream stream = device.stream();
  Buffer<i32> out = device.buffer<i32>(1);
  const RawKernel raw(driver, bench::Tiny{}, device);
  constexpr int count = 100;

  const Graph ours = stream.capture([&](const Stream& s) {
    for (int i = 0; i < count; ++i) s.launch(bench::Tiny{}, grid(1), out, i);
  });
  void* graph = nullptr;
  void* exec = nullptr;
  bench::must(driver.cuGraphCreate(&graph, 0), "graph");
  void* last = nullptr;
  u64 address = out.address();
  for (int i = 0; i < count; ++i) {
    void* arguments[] = {&address, &i};
    const bench::KernelNode node = {raw.function, {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr};
    bench::must(driver.cuGraphAddKernelNode(&last, graph, last != nullptr ? &last : nullptr,
                                            last != nullptr ? 1 : 0, &node),
                "node");
  }
  bench::must(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");

  std::vector<double> by_us;
  std::vector<double> by_hand;
  for (int i = -replays / 10 - 1; i < replays; ++i) {
    auto start = bench::Clock::now();
    ours.launch(stream);
    stream.synchronize();
    const double one = bench::microseconds_since(start);
    start = bench::Clock::now();
    bench::must(driver.cuGraphLaunch(exec, stream.native()), "graph launch");
    bench::must(driver.cuStreamSynchronize(stream.native()), "wait");
    const double other = bench::microseconds_since(start);
    if (i < 0) continue;
    by_us.push_back(one);
    by_hand.push_back(other);
  }
  const double one = bench::median(by_us);
  const double other = bench::median(by_hand);
  std::printf("\n| graph of %d small kernels, launch and wait | us, median |\n|---|---|\n", count);
  std::printf("| captured by teeny | %.2f |\n| made by hand | %.2f |\n| ratio | %.4f |\n", one,
              other, one / other);
}

int main_on(Program& program) {
  const Device device = program.device();
  if (device.kind() != DeviceKind::cuda) {
    throw Error(ErrorKind::usage, "wanted a CUDA device, found " + device.name(), "--on cuda");
  }
  std::printf("%s\n\n", device.description().c_str());
  const auto& words = program.arguments();
  measure_launches(device, bench::option(words, "batches", 200),
                   bench::option(words, "launches", 200));
  measure_graphs(device, bench::option(words, "replays", 2000));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }
