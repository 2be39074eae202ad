#include <numeric>

#include "tests/compiler/cpu_support.hpp"

namespace teeny::compiler {
namespace {

using ir::Builder;
using ir::Type;
using ir::ValueId;
using testing::run_on_cpu;

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

TEST(Cpu, vector_add_touches_nothing_outside_its_mask) {
  for (const std::int64_t block : {1, 2, 8, 64, 1024}) {
    for (const i32 n : {0, 1, 63, 64, 1000, 1024, 3000}) {
      const auto size = static_cast<std::size_t>(n);
      std::vector<f32> a(size);
      std::vector<f32> b(size);
      std::vector<f32> out(size + 8, -7.0F);
      std::iota(a.begin(), a.end(), 1.0F);
      std::iota(b.begin(), b.end(), 0.5F);
      const f32* pa = a.data();
      const f32* pb = b.data();
      f32* po = out.data();
      const auto programs = static_cast<std::uint32_t>((n + block - 1) / block);
      run_on_cpu(vector_add(block), {programs, 1, 1}, {&pa, &pb, &po, &n});
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(out[i], a[i] + b[i]) << i;
      for (std::size_t i = size; i < out.size(); ++i) ASSERT_EQ(out[i], -7.0F);
    }
  }
}

}  // namespace
}  // namespace teeny::compiler
