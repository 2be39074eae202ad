// Runs PTX on a simple machine of our own (ptx_machine.hpp) against the reference: no GPU needed.

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/compiler/ptx_machine.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/compiler/reference.hpp"
#include "tests/ir/random_kernel.hpp"

#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

using testing::PtxMachine;

/// Arguments of one launch: by value, or buffers, which the launch changes.
class Arguments {
 public:
  void add_value(const void* value, std::size_t size) { add(false, value, size); }
  std::vector<char>& add_buffer(std::size_t size) {
    add(true, nullptr, size);
    return contents_.back();
  }
  [[nodiscard]] const std::vector<char>& operator[](std::size_t i) const { return contents_.at(i); }

  [[nodiscard]] std::vector<const void*> pointers() {
    addresses_.clear();
    for (auto& one : contents_) addresses_.push_back(one.data());
    std::vector<const void*> list;
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      list.push_back(is_buffer_[i] ? static_cast<const void*>(&addresses_[i]) : addresses_[i]);
    }
    return list;
  }
  void allow_in(PtxMachine& machine) const {
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      if (is_buffer_[i]) machine.allow(contents_[i].data(), contents_[i].size());
    }
  }

 private:
  void add(bool buffer, const void* value, std::size_t size) {
    is_buffer_.push_back(buffer);
    contents_.emplace_back(size);
    if (value != nullptr) std::memcpy(contents_.back().data(), value, size);
  }
  std::vector<bool> is_buffer_;
  std::vector<std::vector<char>> contents_;
  std::vector<const char*> addresses_;
};

std::uint64_t element(const std::vector<char>& buffer, DType dtype, std::size_t i) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &buffer[i * size], size);
  return bits;
}

/// Equal but for the sign of zero, NaN for NaN, or floats within the tolerance.
bool agree(DType dtype, std::uint64_t want, std::uint64_t have, double absolute, double relative) {
  if (want == have) return true;
  if (!is_float(dtype)) return false;
  const double a = decode(dtype, want);
  const double b = decode(dtype, have);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= absolute + relative * std::fabs(a);
}

void fill(std::vector<char>& buffer, DType dtype, std::mt19937_64& random, bool specials) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  static constexpr double special[] = {
      0.0,           -0.0,         1.0,    -1.0,     0.5,       1.5,     2.5,
      -2.5,          127.5,        255.5,  -129.0,   65504.0,   65520.0, 2147483648.0,
      -2147483649.0, 4294967296.0, 9.3e18, -9.3e18,  1.9e19,    1e-40,   1e-7,
      1e30,          -1e38,        1e300,  HUGE_VAL, -HUGE_VAL, NAN};
  for (std::size_t i = 0; i < buffer.size() / size; ++i) {
    std::uint64_t bits = random();
    if (dtype == DType::boolean) bits &= 1;
    if (is_float(dtype) && (!specials || bits % 4 == 0)) {
      bits = encode(dtype, std::ldexp(static_cast<double>(bits >> 11), -51) - 2);
    } else if (is_float(dtype)) {
      if (bits % 4 != 1) bits = encode(dtype, special[bits / 4 % std::size(special)]);
    } else if (specials && bits % 4 == 0) {
      bits = encode(dtype, static_cast<std::int64_t>(bits / 4 % 5) - 2);
      if (dtype == DType::boolean) bits &= 1;
    }
    std::memcpy(&buffer[i * size], &bits, size);
  }
}

/// Compiles and runs one block, the first thread first and then the last one first.
void run_on_machine(const ir::Kernel& kernel, Capability capability, Arguments& found,
                    const std::array<std::uint32_t, 3>& grid) {
  const Artifact artifact = compile_ptx(prepare(kernel), {capability});
  PtxMachine machine(artifact.code, artifact.info.shared_bytes);
  found.allow_in(machine);
  const Arguments before = found;
  machine.run(found.pointers(), {0, 0, 0}, grid, true);
  Arguments again = before;
  PtxMachine other(artifact.code, artifact.info.shared_bytes);
  again.allow_in(other);
  other.run(again.pointers(), {0, 0, 0}, grid, false);
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    ASSERT_EQ(found[i], again[i]) << "the order of threads shows in parameter " << i;
  }
}

// --- random kernels ---

constexpr auto elements = static_cast<std::size_t>(ir::random_kernel_elements);

Arguments random_arguments(std::uint32_t seed) {
  std::mt19937_64 random(seed);
  Arguments arguments;
  for (const DType dtype : all_dtypes) {
    const std::size_t bytes = elements * static_cast<std::size_t>(size_of(dtype));
    fill(arguments.add_buffer(bytes), dtype, random, false);
    arguments.add_buffer(bytes);
  }
  const auto number = static_cast<i32>(random() % 300);
  const f32 real = 0.75F;
  arguments.add_value(&number, sizeof number);
  arguments.add_value(&real, sizeof real);
  return arguments;
}

void check_random(std::uint32_t seed, Capability capability) {
  const ir::RandomKernel random = ir::random_kernel(seed);
  Arguments expected = random_arguments(seed);
  testing::Reference(random.kernel).run(expected.pointers(), {0, 0, 0}, {1, 1, 1});
  Arguments found = random_arguments(seed);
  run_on_machine(random.kernel, capability, found, {1, 1, 1});
  if (::testing::Test::HasFatalFailure()) return;
  for (const ir::RandomOutput& output : random.outputs) {
    for (std::int64_t i = output.first; i < output.first + output.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::uint64_t want = element(expected[output.parameter], output.dtype, at);
      const std::uint64_t have = element(found[output.parameter], output.dtype, at);
      ASSERT_TRUE(agree(output.dtype, want, have, output.tolerance, 0))
          << name(output.dtype) << " output " << output.first << ", element " << i - output.first
          << ": wanted " << decode(output.dtype, want) << ", found " << decode(output.dtype, have)
          << ", tolerance " << output.tolerance << "\n"
          << ir::print(random.kernel);
    }
  }
  for (std::size_t i = 0; i < 2 * std::size(all_dtypes); i += 2) {
    ASSERT_EQ(expected[i], found[i]) << "an input was written";
  }
}

/// TEENY_TEST_SEED and TEENY_TEST_COUNT choose other kernels than the usual ones.
std::uint32_t chosen(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : otherwise;
}

TEST(PtxRun, RandomKernelsMatchTheReference) {
  const std::uint32_t first = chosen("TEENY_TEST_SEED", 0);
  for (std::uint32_t seed = first; seed < first + chosen("TEENY_TEST_COUNT", 40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      check_random(seed, seed % 3 == 0 ? Capability::sm_75 : Capability::sm_87);
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << ir::print(ir::random_kernel(seed).kernel);
    }
    if (HasFatalFailure()) return;
  }
}

// --- samples ---

Arguments sample_arguments(const ir::Kernel& kernel) {
  std::mt19937_64 random(7);
  Arguments arguments;
  const bool specials =
      kernel.name.rfind("casts", 0) == 0 || kernel.name.rfind("arithmetic", 0) == 0;
  for (const ir::Type& type : kernel.parameters()) {
    const auto size = static_cast<std::size_t>(size_of(type.dtype));
    if (type.pointer) {
      fill(arguments.add_buffer(8192 * size), type.dtype, random, specials);
    } else {
      const std::uint64_t number = kernel.name == "control" ? 3 : 45;
      arguments.add_value(&number, size);
    }
  }
  return arguments;
}

void check_sample(const ir::Kernel& kernel, Capability capability) {
  const std::array<std::uint32_t, 3> grid = {2, 2, 1};
  Arguments expected = sample_arguments(kernel);
  testing::Reference(kernel).run(expected.pointers(), {0, 0, 0}, grid);
  Arguments found = sample_arguments(kernel);
  run_on_machine(kernel, capability, found, grid);
  const auto types = kernel.parameters();
  for (std::size_t p = 0; p < types.size(); ++p) {
    if (!types[p].pointer) continue;
    const DType dtype = types[p].dtype;
    const double tolerance = dtype == DType::bf16 ? 2e-2 : dtype == DType::f16 ? 2e-3 : 2e-5;
    for (std::size_t i = 0; i < 8192; ++i) {
      const std::uint64_t want = element(expected[p], dtype, i);
      const std::uint64_t have = element(found[p], dtype, i);
      ASSERT_TRUE(agree(dtype, want, have, tolerance, tolerance))
          << "parameter " << p << ", element " << i << ": wanted " << decode(dtype, want)
          << ", found " << decode(dtype, have);
    }
  }
}

TEST(PtxRun, SamplesMatchTheReference) {
  for (const SampleKernel& sample : sample_kernels()) {
    for (const Capability capability : {Capability::sm_75, Capability::sm_90}) {
      SCOPED_TRACE(sample.kernel.name + " " + capability.name());
      try {
        check_sample(sample.kernel, capability);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

// What the machine is there to find, it finds.
TEST(PtxRun, TheMachineSeesMissingBarriers) {
  const ir::Kernel kernel = sample::transpose(DType::f32, {64, 32}, {1, 0});
  const Artifact artifact = compile_ptx(prepare(kernel), {Capability::sm_87});
  Arguments arguments = sample_arguments(kernel);
  std::string text = artifact.code;
  const std::size_t barrier = text.find("bar.sync");
  ASSERT_NE(barrier, std::string::npos);
  text.erase(barrier, text.find(';', barrier) - barrier + 1);
  PtxMachine machine(text, artifact.info.shared_bytes);
  arguments.allow_in(machine);
  EXPECT_THROW(machine.run(arguments.pointers(), {0, 0, 0}, {1, 1, 1}), std::runtime_error);
}

TEST(PtxRun, TheMachineSeesAccessesOutsideOfBuffers) {
  const ir::Kernel kernel = sample::transpose(DType::f32, {64, 32}, {1, 0});
  const Artifact artifact = compile_ptx(prepare(kernel), {Capability::sm_87});
  Arguments arguments = sample_arguments(kernel);
  PtxMachine machine(artifact.code, artifact.info.shared_bytes - 4);
  arguments.allow_in(machine);
  EXPECT_THROW(machine.run(arguments.pointers(), {0, 0, 0}, {1, 1, 1}), std::runtime_error);
  PtxMachine none(artifact.code, artifact.info.shared_bytes);
  EXPECT_THROW(none.run(arguments.pointers(), {0, 0, 0}, {1, 1, 1}), std::runtime_error);
}

}  // namespace
}  // namespace teeny::compiler
