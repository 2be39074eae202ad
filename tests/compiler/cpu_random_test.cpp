// Random kernels, which use every operation: what teenyc makes of them for this CPU against the
// reference.

#include <cmath>
#include <random>

#include "compiler/passes/passes.hpp"
#include "tests/compiler/cpu_support.hpp"
#include "tests/compiler/reference.hpp"
#include "tests/ir/random_kernel.hpp"

#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

using testing::Argument;
using testing::Launch;

constexpr auto elements = static_cast<std::size_t>(ir::random_kernel_elements);

/// Arguments of a random kernel: buffers of all dtypes, inputs filled from a seed.
std::vector<Argument> arguments_of(std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Argument> arguments;
  for (const DType dtype : all_dtypes) {
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::vector<char> input(elements * size);
    for (std::size_t i = 0; i < elements; ++i) {
      std::uint64_t bits = random();
      if (dtype == DType::boolean) bits &= 1;
      if (is_float(dtype)) {
        bits = encode(dtype, std::ldexp(static_cast<double>(bits >> 11), -51) - 2);
      }
      std::memcpy(&input[i * size], &bits, size);
    }
    arguments.push_back({true, std::move(input)});
    arguments.push_back({true, std::vector<char>(elements * size)});
  }
  arguments.push_back(Argument::value(static_cast<i32>(random() % 300)));
  arguments.push_back(Argument::value(0.75F));
  return arguments;
}

std::uint64_t element(const Argument& buffer, DType dtype, std::int64_t i) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &buffer.bytes[static_cast<std::size_t>(i) * size], size);
  return bits;
}

void compare(const ir::RandomKernel& random, const std::vector<Argument>& expected,
             const std::vector<Argument>& found) {
  for (const ir::RandomOutput& output : random.outputs) {
    for (std::int64_t i = output.first; i < output.first + output.count; ++i) {
      const std::uint64_t want = element(expected[output.parameter], output.dtype, i);
      const std::uint64_t have = element(found[output.parameter], output.dtype, i);
      if (want == have) continue;
      const double a = decode(output.dtype, want);
      const double b = decode(output.dtype, have);
      const bool near = is_float(output.dtype) && std::fabs(a - b) <= output.tolerance;
      ASSERT_TRUE(near || (std::isnan(a) && std::isnan(b)))
          << name(output.dtype) << " output " << output.first << ", element " << i - output.first
          << ": wanted " << a << ", found " << b << ", tolerance " << output.tolerance << "\n"
          << ir::print(random.kernel);
    }
  }
  for (std::size_t parameter = 0; parameter < 2 * std::size(all_dtypes); parameter += 2) {
    ASSERT_EQ(expected[parameter].bytes, found[parameter].bytes) << "an input was written";
  }
}

void check(testing::Machine& machine, std::uint32_t first, std::uint32_t count) {
  std::vector<Launch> launches;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    launches.push_back({prepare(ir::random_kernel(seed).kernel), {1, 1, 1}, arguments_of(seed)});
  }
  machine.run(launches);
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ir::RandomKernel random = ir::random_kernel(seed);
    const Launch expected{random.kernel, {1, 1, 1}, arguments_of(seed)};
    std::vector<const char*> addresses;
    testing::Reference(random.kernel).run(expected.pointers(addresses), {0, 0, 0}, {1, 1, 1});
    compare(random, expected.arguments, launches[seed - first].arguments);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// TEENY_TEST_SEED and TEENY_TEST_COUNT choose other kernels than the usual ones.
std::uint32_t chosen(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : otherwise;
}

TEST(CpuRandom, kernels_match_the_reference) {
  testing::Host host;
  check(host, chosen("TEENY_TEST_SEED", 0), chosen("TEENY_TEST_COUNT", 60));
}

TEST(CpuRandom, kernels_match_the_reference_on_an_emulated_board) {
  if (const auto why = testing::EmulatedBoard::missing()) GTEST_SKIP() << *why;
  testing::EmulatedBoard board;
  check(board, chosen("TEENY_TEST_SEED", 1000), chosen("TEENY_TEST_COUNT", 40));
}

}  // namespace
}  // namespace teeny::compiler
