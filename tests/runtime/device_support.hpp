#pragma once

// Devices for tests of what every device does: the CPU, and CUDA. In runtime_tests the driver and
// the compiler are played; device_tests is a program with kernels of its own, which is carried to a
// machine with a device and runs the same tests there.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/context.hpp"
#include "runtime/device_state.hpp"
#include "tests/cache/fake_compiler.hpp"
#include "tests/runtime/cuda_support.hpp"

#include "teeny/teeny.hpp"

// What machine code in test_kernels.cpp plays for runtime_tests.
namespace kernels {

using namespace teeny;

/// Writes down that it ran: log[0] counts, the values follow.
struct Append {
  static constexpr KernelOptions options{.num_warps = 1};
  void operator()(Ptr<i32> log, Int value) const {
    auto count = load(log) + 1;
    store(log + count, value);
    store(log, count);
  }
};
struct Scale {
  void operator()(Ptr<const i32> in, Ptr<i32> out, Int factor) const {
    store(out + program_id(0), load(in + program_id(0)) * factor);
  }
};
struct Fill {
  void operator()(Ptr<i32> out) const { store(out + program_id(0), full<i32>(7)); }
};

}  // namespace kernels

namespace teeny::test {

#ifdef TEENY_TEST_REAL_DEVICES
/// A real driver tells nothing of what it was asked.
class Played {
 protected:
  struct Driver {
    [[nodiscard]] long long calls(const char*) const { return 0; }
    [[nodiscard]] long long live(const char*) const { return 0; }
  };
  Driver driver_;
};
#else
class Played {
 protected:
  Played() { detail::set_cache_directory(cache_.path() / "cache"); }

  FakeCompiler compiler_;
  TemporaryDirectory cache_;
  FakeDriver driver_;
  Variable code_{"FAKE_CODE", TEENY_BUILD_DIR "/tests/runtime_test_kernels.so"};
  Variable cuda_code_{"FAKE_CUDA_CODE", TEENY_BUILD_DIR "/tests/runtime_test_kernels.so"};
};
#endif

/// A device of its own, opened anew, which is never closed: launches keep track of it.
inline Device fresh_device(std::unique_ptr<detail::Backend> backend) {
  static auto& all = *new std::vector<std::unique_ptr<detail::DeviceState>>;
  all.push_back(std::make_unique<detail::DeviceState>(std::move(backend)));
  return Device(*all.back());
}

[[nodiscard]] inline std::vector<i32> counted(i32 from, i32 to) {
  std::vector<i32> values;
  for (i32 value = from; value <= to; ++value) values.push_back(value);
  return values;
}

/// Kernels of this file on any device.
class DeviceTest : public Played, public testing::Test {
 protected:
  static Device cuda(int ordinal = 0) { return fresh_device(detail::make_cuda_backend(ordinal)); }
  static Device cpu() { return fresh_device(detail::make_cpu_backend()); }

  template <class Body>
  static std::string error_of(Body body, int exit_code = 0) {
    try {
      body();
    } catch (const Error& error) {
      if (exit_code != 0) {
        EXPECT_EQ(error.exit_code(), exit_code) << error.what();
      }
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  }
  /// What Append wrote.
  static std::vector<i32> appended(const Buffer<i32>& log) {
    const std::vector<i32> all = log.to_vector();
    return {all.begin() + 1, all.begin() + 1 + all.at(0)};
  }
  static Buffer<i32> empty_log(const Device& device, std::size_t most = 256) {
    Buffer<i32> log = device.buffer<i32>(most + 1);
    log.fill_bytes(0);
    device.synchronize();
    return log;
  }
};

/// The same on each kind of device: INSTANTIATE_TEST_SUITE_P(All, X, testing::Values("cpu",
/// "cuda")).
class EachDeviceTest : public DeviceTest, public testing::WithParamInterface<const char*> {
 protected:
  static Device open() { return std::string(GetParam()) == "cpu" ? cpu() : cuda(); }
};

}  // namespace teeny::test
