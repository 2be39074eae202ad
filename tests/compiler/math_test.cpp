// The expansions of elementary functions, against double precision (f32) or the C library (f64). A
// kernel of one constant is expanded and folded: what is stored is the function's value.

#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "compiler/passes/passes.hpp"

#include "teeny/ir/builder.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Opcode;
using ir::Type;
using ir::ValueId;

using Record = std::function<ValueId(Builder&, const std::vector<ValueId>&)>;

/// Bits of what `record` gives for operands of the given bits.
u64 folded(DType dtype, const std::vector<u64>& operands, DType result, const Record& record) {
  Builder b("constant", {Type::pointer_to(result)});
  std::vector<ValueId> values;
  for (const u64 bits : operands) values.push_back(b.constant(Type::scalar(dtype), bits));
  b.store(b.parameter(0), record(b, values));
  const ir::Kernel kernel = canonicalise(expand_math(b.finish()));
  const ir::Op& store = kernel.body.ops.back();
  for (const ir::Op& op : kernel.body.ops) {
    if (op.code == Opcode::constant && op.results[0] == store.operands[1]) return op.bits;
  }
  ADD_FAILURE() << "the kernel did not fold to a constant";
  return 0;
}

double value_of(Opcode code, DType dtype, double x) {
  return decode(dtype, folded(dtype, {encode(dtype, x)}, dtype,
                              [&](Builder& b, const auto& v) { return b.unary(code, v[0]); }));
}

/// |got - want| in units of the last place of `want` in `dtype`.
double ulps(DType dtype, double got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  const auto rounded = dtype == DType::f32 ? static_cast<double>(static_cast<float>(want))
                                           : static_cast<double>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    const double largest = dtype == DType::f32 ? FLT_MAX : DBL_MAX;
    return rounded == got || std::abs(std::isinf(got) ? rounded : got) >= largest * 0.9999999
               ? 0
               : HUGE_VAL;
  }
  const int lowest = dtype == DType::f32 ? -149 : -1074;
  const int digits = dtype == DType::f32 ? 24 : 53;
  const int exponent = want == 0 ? lowest : std::max(std::ilogb(want) - digits + 1, lowest);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, exponent));
}

struct Case {
  const char* name;
  Opcode code;
  long double (*reference)(long double);
  double low, high;
  double bound32, bound64;
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double rsqrt(long double x) { return 1 / std::sqrt(x); }

class Functions : public testing::TestWithParam<Case> {};

TEST_P(Functions, AreWithinTheirBound) {
  const Case& c = GetParam();
  std::mt19937_64 generator(20261201);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double bound = dtype == DType::f32 ? c.bound32 : c.bound64;
    double worst = 0;
    double where = 0;
    const auto sample = [&](double x) {
      x = decode(dtype, encode(dtype, x));
      const double error =
          ulps(dtype, value_of(c.code, dtype, x), c.reference(static_cast<long double>(x)));
      if (error > worst) {
        worst = error;
        where = x;
      }
    };
    std::uniform_real_distribution<double> uniform(c.low, c.high);
    std::uniform_real_distribution<double> exponent(-45, 1);
    for (int i = 0; i < 500; ++i) sample(uniform(generator));
    // Small magnitudes of both signs, where relative accuracy is hardest.
    for (int i = 0; i < 250; ++i)
      sample((i % 2 == 0 || c.low >= 0 ? 1 : -1) * std::pow(10.0, exponent(generator)));
    EXPECT_LE(worst, bound) << c.name << " of " << name(dtype) << " at " << where;
    RecordProperty(std::string(c.name) + "_" + std::string(name(dtype)), std::to_string(worst));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Math, Functions,
    testing::Values(Case{"exp", Opcode::exp, std::exp, -104, 89, 2, 2},
                    Case{"exp2", Opcode::exp2, std::exp2, -150, 128, 2, 2},
                    Case{"log", Opcode::log, std::log, 0, 1e6, 2, 2},
                    Case{"log_near_one", Opcode::log, std::log, 0.5, 2, 2, 2},
                    Case{"log2", Opcode::log2, std::log2, 0, 1e6, 2, 2},
                    Case{"log2_near_one", Opcode::log2, std::log2, 0.5, 2, 2, 2},
                    Case{"tanh", Opcode::tanh, std::tanh, -12, 12, 3, 4},
                    Case{"sigmoid", Opcode::sigmoid, sigmoid, -90, 90, 3, 4},
                    Case{"sigmoid_centre", Opcode::sigmoid, sigmoid, -3, 3, 3, 4},
                    Case{"erf", Opcode::erf, std::erf, -5, 5, 3, 4},
                    Case{"sin", Opcode::sin, std::sin, -10, 10, 3, 4},
                    Case{"cos", Opcode::cos, std::cos, -10, 10, 3, 4},
                    Case{"sin_large", Opcode::sin, std::sin, -1e5, 1e5, 3, 4},
                    Case{"cos_large", Opcode::cos, std::cos, -1e5, 1e5, 3, 4},
                    Case{"rsqrt", Opcode::rsqrt, rsqrt, 0, 1e6, 3, 3}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(Math, EdgesAreThoseOfC) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  const auto same = [](double got, double want) {
    return std::isnan(want) ? std::isnan(got)
                            : got == want && std::signbit(got) == std::signbit(want);
  };
  struct Edge {
    Opcode code;
    double x, want;
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Edge& e :
         {Edge{Opcode::exp, inf, inf},  {Opcode::exp, -inf, 0.0},     {Opcode::exp, 0.0, 1.0},
          {Opcode::exp, nan, nan},      {Opcode::exp2, inf, inf},     {Opcode::exp2, -inf, 0.0},
          {Opcode::exp2, 10.0, 1024.0}, {Opcode::exp2, nan, nan},     {Opcode::log, 0.0, -inf},
          {Opcode::log, -1.0, nan},     {Opcode::log, inf, inf},      {Opcode::log, 1.0, 0.0},
          {Opcode::log, nan, nan},      {Opcode::log2, 8.0, 3.0},     {Opcode::log2, 0.0, -inf},
          {Opcode::log2, -inf, nan},    {Opcode::log2, nan, nan},     {Opcode::tanh, inf, 1.0},
          {Opcode::tanh, -inf, -1.0},   {Opcode::tanh, -0.0, -0.0},   {Opcode::tanh, nan, nan},
          {Opcode::sigmoid, inf, 1.0},  {Opcode::sigmoid, -inf, 0.0}, {Opcode::sigmoid, 0.0, 0.5},
          {Opcode::sigmoid, nan, nan},  {Opcode::erf, inf, 1.0},      {Opcode::erf, -inf, -1.0},
          {Opcode::erf, 0.0, 0.0},      {Opcode::erf, nan, nan},      {Opcode::sin, 0.0, 0.0},
          {Opcode::sin, inf, nan},      {Opcode::cos, 0.0, 1.0},      {Opcode::cos, -inf, nan},
          {Opcode::rsqrt, 0.0, inf},    {Opcode::rsqrt, -1.0, nan},   {Opcode::rsqrt, inf, 0.0}}) {
      const double got = value_of(e.code, dtype, e.x);
      EXPECT_TRUE(same(got, e.want)) << ir::name(e.code) << "(" << e.x << ") of " << name(dtype)
                                     << " is " << got << ", wanted " << e.want;
    }
  }
}

TEST(Math, CastsToSixteenBitsRoundOnce) {
  std::mt19937_64 generator(3);
  const auto cast_to = [](DType from, DType to, u64 bits) {
    return folded(from, {bits}, to, [&](Builder& b, const auto& v) { return b.cast(v[0], to); });
  };
  for (const DType to : {DType::f16, DType::bf16}) {
    for (int i = 0; i < 300; ++i) {
      // A value next to the middle of two neighbours, where rounding twice goes wrong.
      const u64 low = generator() % (to == DType::f16 ? 0x7bff : 0x7f7f);
      const double middle = (decode(to, low) + decode(to, low + 1)) / 2;
      for (const double x :
           {middle, std::nextafter(middle, HUGE_VAL), std::nextafter(middle, -HUGE_VAL), -middle,
            std::nextafter(-middle, -HUGE_VAL)}) {
        EXPECT_EQ(cast_to(DType::f64, to, encode(DType::f64, x)), encode(to, x))
            << x << " to " << name(to);
      }
      const auto number = static_cast<i64>(generator()) >> (generator() % 60);
      EXPECT_EQ(cast_to(DType::i64, to, encode(DType::i64, number)), encode(to, number))
          << number << " to " << name(to);
      const auto narrow = static_cast<i64>(static_cast<i32>(number));
      EXPECT_EQ(cast_to(DType::i32, to, encode(DType::i32, narrow)), encode(to, narrow))
          << narrow << " to " << name(to);
      const u64 big = generator() >> (generator() % 60);
      EXPECT_EQ(cast_to(DType::u64, to, encode(DType::u64, big)), encode(to, big))
          << big << " to " << name(to);
    }
  }
}

}  // namespace
}  // namespace teeny::compiler
