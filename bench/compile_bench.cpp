// How long a warm teenyc takes for one kernel.
//
//   compile_bench sm_87 KERNEL.tir ... [--benchmark_...]
//
// KERNEL.tir is the IR text that lies beside a kernel's artifacts in a cache. TEENYC_PATH says
// which teenyc.

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <benchmark/benchmark.h>

#include "teeny/base/files.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 3) {
    std::fprintf(stderr, "usage: compile_bench CAPABILITY KERNEL.tir ...\n");
    return 2;
  }
  try {
    const auto location = teeny::find_compiler();
    if (!location) throw std::runtime_error("no teenyc: set TEENYC_PATH");
    const teeny::Target target(teeny::require_capability("CAPABILITY", argv[1]));
    teeny::CompilerPool pool(*location, 1);
    for (int i = 2; i < argc; ++i) {
      const std::filesystem::path path = argv[i];
      const teeny::ir::Kernel kernel = teeny::ir::parse(teeny::read_file(path));
      const std::string fingerprint = teeny::ir::fingerprint(kernel);
      (void)pool.compile(kernel, fingerprint, target);  // warms the process
      const std::string name = kernel.name + "-" + fingerprint.substr(0, 8) + "/" + argv[1];
      benchmark::RegisterBenchmark(
          name.c_str(),
          [&pool, kernel, fingerprint, target](benchmark::State& state) {
            for (auto _ : state)
              benchmark::DoNotOptimize(pool.compile(kernel, fingerprint, target));
          })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
