// One fault of each kind that compute-sanitizer looks for, so that its silence over the examples
// means something (bench/gpu/sanitize.sh).
//
//   planted_faults out-of-bounds | race | uninitialised

#include <cstdio>

#include "kernels.hpp"
#include "raw_driver.hpp"

namespace {

using namespace teeny;

constexpr int count = 1024;

// No kernel written in the language can race within a block, so this one comes from elsewhere:
// every thread writes its number into one word of shared memory, and nothing keeps the others from
// reading.
constexpr const char* racing = R"(.version 7.8
.target sm_80
.address_size 64
.shared .align 4 .u32 word;
.visible .entry Racing(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r0, %tid.x;
  st.volatile.shared.u32 [word], %r0;
  ld.volatile.shared.u32 %r1, [word];
  mul.wide.u32 %d1, %r0, 4;
  add.s64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

void race(const Device& device) {
  const bench::RawDriver driver;
  const Buffer<i32> out = device.buffer<i32>(count);
  void* module = nullptr;
  void* function = nullptr;
  bench::must(driver.cuModuleLoadDataEx(&module, racing, 0, nullptr, nullptr), "load");
  bench::must(driver.cuModuleGetFunction(&function, module, "Racing"), "entry");
  u64 address = out.address();
  void* arguments[] = {&address};
  bench::must(driver.cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr),
              "launch");
  bench::must(driver.cuCtxSynchronize(), "wait");
}

void scale(const Device& device, int beyond, bool written) {
  Buffer<i32> in = device.buffer<i32>(count);
  const Buffer<i32> out = device.buffer<i32>(count);
  if (written) in.fill_bytes(0);
  device.launch(bench::Scale{}, grid(cdiv(count + beyond, 1024)), in, out, 3, count + beyond);
  device.synchronize();
}

int main_on(Program& program) {
  const std::string what = program.arguments().empty() ? "" : program.arguments().front();
  const Device device = program.device();
  if (what == "out-of-bounds") {
    scale(device, 1 << 20, true);
  } else if (what == "race") {
    race(device);
  } else if (what == "uninitialised") {
    scale(device, 0, false);
  } else {
    throw Error(ErrorKind::usage, "wanted a kind of fault, found \"" + what + "\"",
                "planted_faults out-of-bounds, race or uninitialised");
  }
  std::printf("planted: %s\n", what.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return teeny::run(argc, argv, main_on); }
