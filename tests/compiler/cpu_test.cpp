#include <numeric>

#include "tests/compiler/cpu_support.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Type;
using ir::ValueId;
using testing::Argument;
using testing::Launch;

constexpr DType f32_ = DType::f32;

ir::Kernel vector_add(std::int64_t block) {
  Builder b("vector_add", {Type::pointer_to(f32_, true), Type::pointer_to(f32_, true),
                           Type::pointer_to(f32_), Type::scalar(DType::i32)});
  const ValueId start =
      b.binary(ir::Opcode::mul, b.program_id(0),
               b.constant(Type::scalar(DType::i32), static_cast<std::uint64_t>(block)));
  const ValueId i = b.binary(ir::Opcode::add, b.broadcast(start, {block}), b.arange(0, block));
  const ValueId inside = b.compare(ir::Predicate::lt, i, b.broadcast(b.parameter(3), {block}));
  const auto at = [&](std::size_t p) { return b.offset(b.broadcast(b.parameter(p), {block}), i); };
  const ValueId sum = b.binary(ir::Opcode::add, b.load(at(0), inside), b.load(at(1), inside));
  b.store(at(2), sum, inside);
  return b.finish();
}

/// The arguments after a run on this machine.
std::vector<Argument> run(Launch launch) {
  std::vector<Launch> launches{std::move(launch)};
  testing::Host().run(launches);
  return launches[0].arguments;
}

TEST(Cpu, vector_add_touches_nothing_outside_its_mask) {
  for (const std::int64_t block : {1, 2, 8, 64, 1024}) {
    for (const i32 n : {0, 1, 63, 64, 1000, 1024, 3000}) {
      const auto size = static_cast<std::size_t>(n);
      std::vector<f32> a(size);
      std::vector<f32> b(size);
      std::iota(a.begin(), a.end(), 1.0F);
      std::iota(b.begin(), b.end(), 0.5F);
      const auto programs = static_cast<std::uint32_t>((n + block - 1) / block);
      const auto out =
          run({vector_add(block),
               {programs, 1, 1},
               {Argument::buffer(a), Argument::buffer(b),
                Argument::buffer(std::vector<f32>(size + 8, -7.0F)), Argument::value(n)}})[2]
              .as<f32>();
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(out[i], a[i] + b[i]) << i;
      for (std::size_t i = size; i < out.size(); ++i) ASSERT_EQ(out[i], -7.0F);
    }
  }
}

}  // namespace
}  // namespace teeny::compiler
