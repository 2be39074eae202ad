// Runs PTX on a simple machine of our own (ptx_machine.hpp) against the reference: no GPU needed.

#include <random>

#include <gtest/gtest.h>

#include "tests/compiler/ptx_run_support.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/compiler/reference.hpp"
#include "tests/ir/random_kernel.hpp"

#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

using testing::agree;
using testing::Arguments;
using testing::element;
using testing::fill;
using testing::PtxMachine;
using testing::run_on_machine;

/// Compiles and runs one block.
void run_kernel(const ir::Kernel& kernel, Capability capability, Arguments& found,
                const std::array<std::uint32_t, 3>& grid) {
  run_on_machine(compile_ptx(prepare(kernel), {capability}), found, {0, 0, 0}, grid);
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
  run_kernel(random.kernel, capability, found, {1, 1, 1});
  if (::testing::Test::HasFailure()) return;
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
    if (HasFailure()) return;
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
  run_kernel(kernel, capability, found, grid);
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
