// Every elementwise operation on every element type, on all pairs of special and random values: the
// compiled kernel against the constant folder, which computes on single elements on the host.

#include <cmath>
#include <random>

#include "compiler/passes/evaluate.hpp"
#include "tests/compiler/cpu_support.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::ValueId;
using testing::Argument;
using testing::Launch;

std::vector<std::uint64_t> samples(DType dtype) {
  std::vector<std::uint64_t> values;
  if (dtype == DType::boolean) return {0, 1};
  const std::uint64_t all =
      bits_of(dtype) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(dtype)) - 1;
  std::mt19937_64 random(7);
  if (is_float(dtype)) {
    for (const double value : {0.0,           -0.0,
                               1.0,           -1.0,
                               0.5,           1.5,
                               2.5,           -2.5,
                               3.25,          127.0,
                               128.5,         -129.0,
                               255.0,         256.0,
                               300.0,         32767.0,
                               65504.0,       65520.0,
                               2147483647.0,  -2147483648.0,
                               4294967296.0,  9.3e18,
                               -9.3e18,       1.9e19,
                               1e-3,          1e-8,
                               6e-8,          1e-40,
                               1e-310,        3e38,
                               1e300,         -1e300,
                               1.00048828125, 1.0004882812500002,
                               std::nan(""),  HUGE_VAL,
                               -HUGE_VAL}) {
      values.push_back(encode(dtype, value));
    }
    std::normal_distribution<double> normal(0, 100);
    for (int i = 0; i < 20; ++i) values.push_back(encode(dtype, normal(random)));
    for (int i = 0; i < 40; ++i) values.push_back(random() & all);
    return values;
  }
  for (const std::int64_t value :
       {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, -1, -2, -7, 100, -128}) {
    values.push_back(static_cast<std::uint64_t>(value) & all);
  }
  values.push_back(all >> 1);        // the greatest signed one
  values.push_back((all >> 1) + 1);  // the lowest signed one
  values.push_back((std::uint64_t{0x01010001}) & all);
  values.push_back((std::uint64_t{0x0101000000000001}) & all);
  for (int i = 0; i < 20; ++i) values.push_back(random() & all);
  return values;
}

/// A buffer of elements as they lie in memory.
Argument packed(DType dtype, const std::vector<std::uint64_t>& values) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::vector<char> bytes(size * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * size], &values[i], size);
  return {true, std::move(bytes)};
}

std::uint64_t element(DType dtype, const std::vector<char>& bytes, std::size_t i) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[i * size], size);
  return value;
}

/// Equal bits; or both NaN; or both zero, where the sign may differ (minimum and maximum).
bool same(DType dtype, std::uint64_t left, std::uint64_t right, bool any_zero) {
  if (left == right) return true;
  if (!is_float(dtype)) return false;
  const double a = decode(dtype, left);
  const double b = decode(dtype, right);
  return (std::isnan(a) && std::isnan(b)) || (any_zero && a == 0 && b == 0);
}

/// One operation on tiles whose elements take every combination of samples.
struct Case {
  Op op;
  std::vector<DType> types;
  DType result;
  std::vector<std::vector<std::uint64_t>> inputs = {};
};

Launch launch_of(Case& tested) {
  const auto& [op_given, types, result, unused] = tested;
  auto& inputs = tested.inputs;
  Op op = op_given;
  const std::size_t arity = types.size();
  inputs.resize(arity);
  std::vector<std::vector<std::uint64_t>> choices;
  for (const DType type : types) choices.push_back(samples(type));
  std::mt19937 random(3);
  if (arity == 1) {
    inputs[0] = choices[0];
  } else if (arity == 2) {
    for (const std::uint64_t a : choices[0]) {
      for (const std::uint64_t b : choices[1]) {
        inputs[0].push_back(a);
        inputs[1].push_back(b);
      }
    }
  } else {
    for (int i = 0; i < 4096; ++i) {
      for (std::size_t k = 0; k < arity; ++k) {
        inputs[k].push_back(choices[k][random() % choices[k].size()]);
      }
    }
  }
  constexpr std::int64_t block = 64;
  const std::size_t count = (inputs[0].size() + block - 1) / block * block;
  std::vector<Type> parameters;
  for (auto& input : inputs) input.resize(count, input.front());
  for (const DType type : types) parameters.push_back(Type::pointer_to(type, true));
  parameters.push_back(Type::pointer_to(result));
  Builder b("op", parameters);
  const ValueId start = b.binary(Opcode::mul, b.program_id(0),
                                 b.constant(Type::scalar(DType::i32), std::uint64_t{block}));
  const ValueId i = b.binary(Opcode::add, b.broadcast(start, {block}), b.arange(0, block));
  const auto at = [&](std::size_t p) { return b.offset(b.broadcast(b.parameter(p), {block}), i); };
  op.operands.clear();
  for (std::size_t k = 0; k < arity; ++k) op.operands.push_back(b.load(at(k)));
  const Type given = Type::tile(result, {block});
  const bool is_given = op.code == Opcode::cast || op.code == Opcode::bitcast;
  const ValueId value = b.append(op, is_given ? &given : nullptr);
  b.store(at(arity), value);

  Launch launch;
  launch.kernel = b.finish();
  launch.grid[0] = static_cast<std::uint32_t>(count / block);
  for (std::size_t k = 0; k < arity; ++k) launch.arguments.push_back(packed(types[k], inputs[k]));
  launch.arguments.push_back(
      {true, std::vector<char>(count * static_cast<std::size_t>(size_of(result)), '\x5a')});
  return launch;
}

void compare(const Case& tested, const std::vector<char>& output) {
  const auto& [op, types, result, inputs] = tested;
  const std::size_t arity = types.size();
  const bool any_zero = op.code == Opcode::minimum || op.code == Opcode::maximum;
  const DType operand = op.code == Opcode::select ? types[1] : types[0];
  for (std::size_t n = 0; n < inputs[0].size(); ++n) {
    std::vector<std::uint64_t> bits;
    std::string given_text;
    for (std::size_t k = 0; k < arity; ++k) {
      bits.push_back(inputs[k][n]);
      given_text += " " + std::to_string(decode(types[k], inputs[k][n]));
    }
    const auto expected = evaluate(op, operand, result, bits);
    ASSERT_TRUE(expected.has_value());
    const std::uint64_t found = element(result, output, n);
    ASSERT_TRUE(same(result, *expected, found, any_zero))
        << ir::name(op.code) << " " << name(types[0]) << " -> " << name(result) << " of"
        << given_text << ": wanted " << decode(result, *expected) << ", found "
        << decode(result, found);
  }
}

Op op_of(Opcode code) {
  Op op;
  op.code = code;
  return op;
}

using Cases = std::vector<Case>;

Cases unary(DType type) {
  std::vector<Opcode> codes;
  if (type != DType::boolean) codes = {Opcode::neg, Opcode::abs};
  if (is_float(type)) {
    for (const Opcode code : {Opcode::sqrt, Opcode::floor, Opcode::ceil, Opcode::round}) {
      codes.push_back(code);
    }
  } else {
    codes.push_back(Opcode::bit_not);
  }
  Cases cases;
  for (const Opcode code : codes) cases.push_back({op_of(code), {type}, type});
  return cases;
}

Cases binary(DType type) {
  std::vector<Opcode> codes;
  if (type != DType::boolean) {
    codes = {Opcode::add, Opcode::sub, Opcode::mul, Opcode::div, Opcode::minimum, Opcode::maximum};
  }
  if (is_int(type)) {
    for (const Opcode code : {Opcode::rem, Opcode::shl, Opcode::shr}) codes.push_back(code);
  }
  if (!is_float(type)) {
    for (const Opcode code : {Opcode::bit_and, Opcode::bit_or, Opcode::bit_xor}) {
      codes.push_back(code);
    }
  }
  if (type == DType::u32 || type == DType::u64) codes.push_back(Opcode::umulhi);
  Cases cases;
  for (const Opcode code : codes) cases.push_back({op_of(code), {type, type}, type});
  return cases;
}

Cases others(DType type) {
  Cases cases;
  for (const ir::Predicate predicate : {ir::Predicate::eq, ir::Predicate::ne, ir::Predicate::lt,
                                        ir::Predicate::le, ir::Predicate::gt, ir::Predicate::ge}) {
    Op op = op_of(Opcode::compare);
    op.predicate = predicate;
    if (type != DType::boolean || predicate <= ir::Predicate::ne) {
      cases.push_back({op, {type, type}, DType::boolean});
    }
  }
  cases.push_back({op_of(Opcode::select), {DType::boolean, type, type}, type});
  if (is_float(type)) cases.push_back({op_of(Opcode::fma), {type, type, type}, type});
  return cases;
}

Cases casts(DType type) {
  Cases cases;
  for (const DType to : all_dtypes) {
    cases.push_back({op_of(Opcode::cast), {type}, to});
    if (bits_of(to) == bits_of(type)) cases.push_back({op_of(Opcode::bitcast), {type}, to});
  }
  return cases;
}

void check(testing::Machine& machine, Cases cases) {
  std::vector<Launch> launches;
  for (Case& tested : cases) launches.push_back(launch_of(tested));
  machine.run(launches);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    compare(cases[i], launches[i].arguments.back().bytes);
  }
}

TEST(Evaluate, MinimumAndMaximumTellTheZerosApart) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::uint64_t zero = encode(dtype, 0.0);
    const std::uint64_t negative = encode(dtype, -0.0);
    for (const auto& both : {std::vector{zero, negative}, std::vector{negative, zero}}) {
      EXPECT_EQ(evaluate(op_of(Opcode::minimum), dtype, dtype, both), negative);
      EXPECT_EQ(evaluate(op_of(Opcode::maximum), dtype, dtype, both), zero);
    }
  }
}

class CpuElementwise : public ::testing::TestWithParam<DType> {};

TEST_P(CpuElementwise, on_this_machine) {
  testing::Host host;
  for (const auto& cases : {unary, binary, others, casts}) check(host, cases(GetParam()));
}

TEST_P(CpuElementwise, on_an_emulated_board) {
  if (const auto why = testing::EmulatedBoard::missing()) GTEST_SKIP() << *why;
  testing::EmulatedBoard board;
  for (const auto& cases : {unary, binary, others, casts}) check(board, cases(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(all, CpuElementwise, ::testing::ValuesIn(all_dtypes),
                         [](const auto& tested) { return std::string(name(tested.param)); });

}  // namespace
}  // namespace teeny::compiler
