// Whether anything grows: loads and unloads of kernels, and launches, after a warm-up.
//
//   endurance [loads=1000] [launches=100000]   two processes, one by teeny and one of driver calls
//                                              alone; prints both and what is between them
//   endurance ours|raw ...                     one of them: a line of numbers
//
// Exit code 1 when device memory was lost, or ours grew by more than 1 MiB beyond the driver's own.

#include <cstdio>
#include <sstream>

#include <unistd.h>

#include "kernels.hpp"
#include "measure.hpp"
#include "raw_driver.hpp"

#include "teeny/base/process.hpp"

namespace {

using namespace teeny;

long long resident_bytes() {
  std::istringstream words(read_file("/proc/self/statm"));
  long long all = 0;
  long long resident = 0;
  words >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

struct Found {
  long long device_bytes;  // more used after than before
  long long host_bytes;
};

Found ours(const Device& device, int loads, int launches) {
  Buffer<i32> out = device.buffer<i32>(1);
  const auto round = [&](int load_count, int launch_count) {
    for (int i = 0; i < load_count; ++i) {
      device.unload_kernels();
      static_cast<void>(device.prepare(bench::Tiny{}));
    }
    for (int i = 0; i < launch_count; ++i) {
      device.launch(bench::Tiny{}, grid(1), out, i);
      if (i % 1000 == 999) device.synchronize();
    }
    device.synchronize();
  };
  round(20, 2000);
  const u64 free_before = device.memory().free;
  const long long before = resident_bytes();
  round(loads, launches);
  return {static_cast<long long>(free_before) - static_cast<long long>(device.memory().free),
          resident_bytes() - before};
}

Found raw(const Device& device, int loads, int launches) {
  const bench::RawDriver driver;
  Buffer<i32> out = device.buffer<i32>(1);
  const Artifact code = bench::code_of(bench::Tiny{}, device);
  void* module = nullptr;
  void* function = nullptr;
  const auto load = [&] {
    bench::must(driver.cuModuleLoadDataEx(&module, code.code.data(), 0, nullptr, nullptr), "load");
    bench::must(driver.cuModuleGetFunction(&function, module, "Tiny"), "entry");
  };
  const auto round = [&](int load_count, int launch_count) {
    for (int i = 0; i < load_count; ++i) {
      bench::must(driver.cuCtxSynchronize(), "wait");
      bench::must(driver.cuModuleUnload(module), "unload");
      load();
    }
    u64 address = out.address();
    for (int i = 0; i < launch_count; ++i) {
      void* arguments[] = {&address, &i};
      bench::must(
          driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr),
          "launch");
      if (i % 1000 == 999) bench::must(driver.cuCtxSynchronize(), "wait");
    }
    bench::must(driver.cuCtxSynchronize(), "wait");
  };
  load();
  round(20, 2000);
  const u64 free_before = device.memory().free;
  const long long before = resident_bytes();
  round(loads, launches);
  return {static_cast<long long>(free_before) - static_cast<long long>(device.memory().free),
          resident_bytes() - before};
}

Found in_a_process(const char* which, int loads, int launches) {
  Command command;
  command.argv = {executable_path().string(),
                  which,
                  "--on",
                  "cuda",
                  "loads=" + std::to_string(loads),
                  "launches=" + std::to_string(launches)};
  const ProcessResult result = run(command);
  if (result.exit_code != 0) {
    throw Error(ErrorKind::environment, "a run failed:\n" + result.output + result.error);
  }
  Found found{};
  std::istringstream(result.output) >> found.device_bytes >> found.host_bytes;
  return found;
}

int main_on(Program& program) {
  const auto& words = program.arguments();
  const int loads = bench::option(words, "loads", 1000);
  const int launches = bench::option(words, "launches", 100000);
  const std::string which = words.empty() ? "" : words.front();
  if (which == "ours" || which == "raw") {
    const Device device = program.device();
    const Found found =
        which == "ours" ? ours(device, loads, launches) : raw(device, loads, launches);
    std::printf("%lld %lld\n", found.device_bytes, found.host_bytes);
    return 0;
  }
  const Found by_us = in_a_process("ours", loads, launches);
  const Found by_driver = in_a_process("raw", loads, launches);
  std::printf(
      "| %d loads and unloads, %d launches | device bytes lost | resident bytes grown |\n"
      "|---|---|---|\n| teeny | %lld | %lld |\n| the driver alone | %lld | %lld |\n",
      loads, launches, by_us.device_bytes, by_us.host_bytes, by_driver.device_bytes,
      by_driver.host_bytes);
  const long long more = by_us.host_bytes - by_driver.host_bytes;
  std::printf("| difference | %lld | %lld |\n", by_us.device_bytes - by_driver.device_bytes, more);
  return by_us.device_bytes <= 0 && more <= 1 << 20 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }
