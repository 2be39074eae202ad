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

constexpr auto elements = static_cast<std::size_t>(ir::random_kernel_elements);

/// Arguments of a random kernel: buffers of all dtypes, inputs filled from a seed.
class Arguments {
 public:
  explicit Arguments(std::uint32_t seed) {
    std::mt19937_64 random(seed);
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
      buffers_.push_back(std::move(input));
      buffers_.emplace_back(elements * size, '\0');
    }
    count_ = static_cast<i32>(random() % 300);
    factor_ = 0.75F;
    for (const auto& buffer : buffers_) addresses_.push_back(buffer.data());
    for (const auto& address : addresses_) list_.push_back(&address);
    list_.push_back(&count_);
    list_.push_back(&factor_);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  [[nodiscard]] const std::vector<const void*>& list() const { return list_; }
  [[nodiscard]] std::uint64_t element(std::size_t parameter, DType dtype, std::size_t i) const {
    const auto size = static_cast<std::size_t>(size_of(dtype));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &buffers_[parameter][i * size], size);
    return bits;
  }
  [[nodiscard]] const std::vector<char>& buffer(std::size_t parameter) const {
    return buffers_[parameter];
  }

 private:
  std::vector<std::vector<char>> buffers_;
  std::vector<const char*> addresses_;
  std::vector<const void*> list_;
  i32 count_ = 0;
  f32 factor_ = 0;
};

void check(std::uint32_t seed, const ir::RandomKernel& random) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Arguments expected(seed);
  Arguments found(seed);
  testing::Reference(random.kernel).run(expected.list(), {0, 0, 0}, {1, 1, 1});
  testing::run_on_cpu(prepare(random.kernel), {1, 1, 1}, found.list());
  for (const ir::RandomOutput& output : random.outputs) {
    for (std::int64_t i = output.first; i < output.first + output.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::uint64_t want = expected.element(output.parameter, output.dtype, at);
      const std::uint64_t have = found.element(output.parameter, output.dtype, at);
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
    ASSERT_EQ(expected.buffer(parameter), found.buffer(parameter)) << "an input was written";
  }
}

TEST(CpuRandom, kernels_match_the_reference) {
  const char* first = std::getenv("TEENY_TEST_SEED");
  const char* count = std::getenv("TEENY_TEST_COUNT");
  const auto from = first != nullptr ? static_cast<std::uint32_t>(std::atoi(first)) : 0U;
  const auto many = count != nullptr ? static_cast<std::uint32_t>(std::atoi(count)) : 60U;
  for (std::uint32_t seed = from; seed < from + many; ++seed) {
    check(seed, ir::random_kernel(seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace teeny::compiler
