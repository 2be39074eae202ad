// How long a program takes from main to its first output in device memory: the work of the example
// image_filter. What every program pays (libcuda, cuInit, the context) and what is the picture's
// own (reading it) is measured apart and not counted.
//
//   start_bench [runs=20]     that many processes, each without a home, without the driver's cache
//   and
//                             with its JIT off; prints the median of each phase
//   start_bench once          one of them: a line of numbers

#include <cstdio>
#include <sstream>

#include "../../examples/image_filter/kernels.hpp"
#include "measure.hpp"
#include "raw_driver.hpp"

#include "teeny/base/process.hpp"

namespace {

using namespace teeny;

constexpr int height = 400;
constexpr int width = 600;
constexpr const char* phases[] = {"libcuda, cuInit, context (not counted)",
                                  "picture (not counted)",
                                  "program's flags",
                                  "device opened",
                                  "buffers and upload",
                                  "kernels found, loaded, launched",
                                  "work done",
                                  "main to first output"};
constexpr std::size_t phase_count = std::size(phases);

std::vector<u8> picture() {
  std::vector<u8> pixels(std::size_t{3} * height * width);
  unsigned state = 1;
  for (u8& pixel : pixels) pixel = static_cast<u8>((state = state * 1664525u + 1013904223u) >> 24);
  return pixels;
}

double lap(bench::Clock::time_point& since) {
  const double microseconds = bench::microseconds_since(since);
  since = bench::Clock::now();
  return microseconds;
}

int once(int argc, char** argv) {
  double took[phase_count] = {};
  auto mark = bench::Clock::now();
  {
    const bench::RawDriver driver;
    int device = 0;
    void* context = nullptr;
    bench::must(driver.cuInit(0), "cuInit");
    bench::must(driver.cuDeviceGet(&device, 0), "device");
    bench::must(driver.cuDevicePrimaryCtxRetain(&context, device), "context");
  }
  took[0] = lap(mark);
  const std::vector<u8> pixels = picture();
  took[1] = lap(mark);
  Program program(argc, argv);
  took[2] = lap(mark);
  const Device device = program.device();
  took[3] = lap(mark);

  constexpr std::size_t plane = std::size_t{height} * width;
  const Grid image = grid(cdiv(width, filter::tile_width), cdiv(height, filter::tile_height));
  const Grid planes = grid(image.x, image.y, 3);
  Buffer<u8> in = device.buffer<u8>(pixels);
  Buffer<f32> sharp = device.buffer<f32>(3 * plane);
  Buffer<f32> half = device.buffer<f32>(3 * plane);
  Buffer<f32> soft = device.buffer<f32>(3 * plane);
  Buffer<f32> edges = device.buffer<f32>(plane);
  Buffer<u8> out = device.buffer<u8>(3 * plane);
  took[4] = lap(mark);
  device.launch(filter::Unpack{}, planes, in, sharp, height, width);
  device.launch(filter::Blur<true>{}, planes, sharp, half, height, width);
  device.launch(filter::Blur<false>{}, planes, half, soft, height, width);
  device.launch(filter::Edges{}, image, soft, edges, height, width);
  device.launch(filter::Tone{}, planes, sharp, soft, edges, out, height, width);
  took[5] = lap(mark);
  device.synchronize();
  took[6] = lap(mark);
  for (std::size_t i = 2; i < 7; ++i) took[7] += took[i];
  for (const double microseconds : took) std::printf("%.1f ", microseconds);
  std::printf("\n");
  return 0;
}

int many(const std::vector<std::string>& words) {
  const int runs = bench::option(words, "runs", 20);
  std::vector<double> all[phase_count];
  for (int i = 0; i < runs; ++i) {
    Command command;
    command.argv = {executable_path().string(), "once", "--on", "cuda"};
    command.clear_environment = true;
    command.environment = {{"CUDA_CACHE_DISABLE", "1"}, {"CUDA_DISABLE_PTX_JIT", "1"}};
    // What a test sets to play the driver.
    for (const char* name :
         {"LD_LIBRARY_PATH", "FAKE_CUDA_CODE", "FAKE_CUDA_CAPABILITY", "FAKE_CUDA_DRIVER"}) {
      if (const char* value = std::getenv(name)) command.environment[name] = value;
    }
    const ProcessResult result = run(command);
    if (result.exit_code != 0) {
      throw Error(ErrorKind::environment, "a run failed:\n" + result.output + result.error);
    }
    std::istringstream numbers(result.output);
    for (auto& phase : all) {
      double microseconds = 0;
      numbers >> microseconds;
      phase.push_back(microseconds);
    }
  }
  std::printf("| phase, median of %d processes | ms |\n|---|---|\n", runs);
  for (std::size_t i = 0; i < phase_count; ++i) {
    std::printf("| %s | %.3f |\n", phases[i], bench::median(all[i]) / 1000);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "once") return once(argc, argv);
  return teeny::run(argc, argv, [](Program& program) { return many(program.arguments()); });
}
