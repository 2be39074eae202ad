// Every one-step change of a kernel has a fingerprint of its own.

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/ir/sample_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/difference.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/rewrite.hpp"
#include "teeny/ir/text.hpp"
#include "teeny/ir/verify.hpp"

namespace teeny::ir {
namespace {

using Values = std::vector<ValueId>;

class Mutants {
 public:
  explicit Mutants(const Kernel& kernel) : kernel_(kernel) {
    remember(kernel, "the kernel itself");
    count_ = 0;
  }

  /// A change made in place; what the verifier refuses is no mutant.
  void add(Kernel mutant, const std::string& what) {
    try {
      verify(mutant);
    } catch (const Error&) {
      return;
    }
    remember(mutant, what);
  }

  void remember(const Kernel& mutant, const std::string& what) {
    ++count_;
    const auto [at, is_new] = seen_.emplace(fingerprint(mutant), what);
    EXPECT_TRUE(is_new) << what << " has the fingerprint of: " << at->second;
    const auto difference = first_difference(kernel_, mutant);
    EXPECT_EQ(difference.has_value(), seen_.size() > 1) << what;
    if (difference) {
      EXPECT_NE(difference->wanted, difference->found) << what;
      EXPECT_EQ((difference->wanted + difference->found).find("fingerprint"), std::string::npos)
          << what << " is not located";
    }
  }

  [[nodiscard]] int count() const { return count_; }

 private:
  Kernel kernel_;
  std::map<std::string, std::string> seen_;
  int count_ = 0;
};

/// The n-th operation in text order; null behind the last.
Op* nth(Block& block, std::size_t& n) {
  for (Op& op : block.ops) {
    if (n-- == 0) return &op;
    for (Block& region : op.regions) {
      if (Op* found = nth(region, n)) return found;
    }
  }
  return nullptr;
}
Op* nth_op(Kernel& kernel, std::size_t n) { return nth(kernel.body, n); }

std::string at(std::size_t n, const Op& op) {
  return "operation " + std::to_string(n) + " (" + std::string(name(op.code)) + ")";
}

TEST(Mutants, AllDiffer) {
  const Kernel kernel = sample_kernel();
  Mutants mutants(kernel);

  Kernel original = kernel;
  std::map<ValueId, const Op*> makers;
  for (std::size_t n = 0; const Op* op = nth_op(original, n); ++n) {
    for (const ValueId id : op->results) makers[id] = op;
  }
  for (std::size_t n = 0; const Op* original_op = nth_op(original, n); ++n) {
    const Op& op = *original_op;
    const auto mutant = [&](const std::string& what, const auto& change) {
      Kernel copy = kernel;
      change(copy, *nth_op(copy, n));
      mutants.add(std::move(copy), at(n, op) + ": " + what);
    };
    for (const Opcode code : all_opcodes()) {
      if (code == op.code) continue;
      mutant("becomes " + std::string(name(code)), [&](Kernel&, Op& same) { same.code = code; });
    }
    // Attributes; the verifier refuses those that the operation does not have.
    mutant("lowest bit", [](Kernel&, Op& same) { same.bits ^= 1U; });
    mutant("a high bit", [](Kernel&, Op& same) { same.bits ^= 1U << 30U; });
    mutant("index", [](Kernel&, Op& same) { same.index += 1; });
    if (op.code == Opcode::permute) {
      mutant("dims", [](Kernel& copy, Op& same) {
        std::swap(same.dims[0], same.dims[1]);
        copy.values[same.results[0]].shape = copy.values[same.operands[0]].shape;
      });
    }
    for (const Predicate predicate : all_predicates()) {
      if (predicate == op.predicate) continue;
      mutant(std::string(name(predicate)), [&](Kernel&, Op& same) { same.predicate = predicate; });
    }
    mutant("cache", [](Kernel&, Op& same) {
      same.cache = same.cache == Cache::automatic ? Cache::streaming : Cache::automatic;
    });
    mutant("precision", [](Kernel&, Op& same) {
      same.precision = same.precision == Precision::ieee ? Precision::tf32 : Precision::ieee;
    });
    // Operands swapped, dropped, replaced.
    for (std::size_t i = 0; i + 1 < op.operands.size(); ++i) {
      if (op.operands[i] == op.operands[i + 1]) continue;
      mutant("operands " + std::to_string(i) + " and the next swapped",
             [&](Kernel&, Op& same) { std::swap(same.operands[i], same.operands[i + 1]); });
    }
    if (op.code == Opcode::load || op.code == Opcode::store) {
      mutant("last operand dropped", [](Kernel&, Op& same) { same.operands.pop_back(); });
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const ValueId operand = op.operands[i];
      for (const ValueId parameter : kernel.body.arguments) {
        if (operand == parameter || kernel.type(operand) != kernel.type(parameter)) continue;
        // That would be what leaving out the operand's maker is, below.
        if (makers.count(operand) != 0 && !makers[operand]->operands.empty() &&
            makers[operand]->operands[0] == parameter) {
          continue;
        }
        mutant("operand " + std::to_string(i) + " is parameter " + std::to_string(parameter),
               [&](Kernel&, Op& same) { same.operands[i] = parameter; });
      }
    }
  }
  const int in_place = mutants.count();

  // An operation put in between, and a unary one left out.
  std::size_t positions = 0;
  (void)rewrite(kernel, [&](Builder&, const Op&, const Op&) {
    ++positions;
    return std::optional<Values>{};
  });
  for (std::size_t position = 0; position < positions; ++position) {
    for (const bool insert : {true, false}) {
      std::size_t now = 0;
      bool changed = false;
      std::string where;
      const Kernel mutant = rewrite(kernel, [&](Builder& b, const Op& mapped, const Op& op) {
        std::optional<Values> result;
        if (now++ != position) return result;
        where = at(position, op);
        if (op.results.size() != 1 || !op.regions.empty()) return result;
        const Type& type = kernel.type(op.results[0]);
        if (insert && !type.pointer && type.dtype != DType::boolean) {
          const bool stated = states_result_type(op.code);
          result = Values{b.unary(Opcode::abs, b.append(mapped, stated ? &type : nullptr))};
        } else if (!insert && op.operands.size() >= 1 && kernel.type(op.operands[0]) == type) {
          result = Values{mapped.operands[0]};
        }
        changed = result.has_value();
        return result;
      });
      if (changed) mutants.add(mutant, where + (insert ? ": abs of it" : ": left out"));
    }
  }
  const int reshaped = mutants.count() - in_place;

  // Two neighbouring stores swapped, a store said twice, a store left out.
  const std::function<void(Block&, const std::string&, Kernel&)> stores =
      [&](Block& block, const std::string& where, Kernel& copy) {
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
          const std::string here = where + "/" + std::to_string(i);
          for (Block& region : block.ops[i].regions) stores(region, here, copy);
          const Opcode code = block.ops[i].code;
          if (code != Opcode::store && code != Opcode::store_view) continue;
          const std::vector<Op> whole = block.ops;
          block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(i), whole[i]);
          mutants.add(copy, here + ": store twice");
          block.ops = whole;
          block.ops.erase(block.ops.begin() + static_cast<std::ptrdiff_t>(i));
          mutants.add(copy, here + ": no store");
          // Down to behind the next write of this block, when its operands are there before.
          for (std::size_t k = i; k < block.ops.size(); ++k) {
            if (!writes_memory(block.ops[k])) continue;
            block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(k) + 1, whole[i]);
            mutants.add(copy, here + ": store behind the next");
            break;
          }
          block.ops = whole;
        }
      };
  Kernel copy = kernel;
  stores(copy.body, "body", copy);
  const int stored = mutants.count() - in_place - reshaped;

  // Another element type of everything that has one of these, and of one parameter.
  for (const auto& [from, to] : {std::pair{DType::f32, DType::f64},
                                 {DType::i32, DType::i64},
                                 {DType::u32, DType::u64},
                                 {DType::i64, DType::i32}}) {
    for (std::size_t parameter = 0; parameter < kernel.body.arguments.size(); ++parameter) {
      Kernel mutant = kernel;
      mutant.values[kernel.body.arguments[parameter]].dtype = to;
      if (kernel.values[kernel.body.arguments[parameter]].dtype != from) continue;
      mutants.add(mutant,
                  "parameter " + std::to_string(parameter) + " of " + std::string(name(to)));
    }
  }
  Kernel half = kernel;
  for (Type& type : half.values) {
    if (type.dtype == DType::f32) type.dtype = DType::f16;
  }
  mutants.add(half, "f16 for f32");

  std::printf("%d mutants: %d in place, %d operations put in or left out, %d of stores\n",
              mutants.count(), in_place, reshaped, stored);
  EXPECT_GE(mutants.count(), 200);
  EXPECT_GE(stored, 8);
}

/// A chain of element types that can be chosen freely: each choice is another kernel.
TEST(Mutants, EveryElementTypeDiffers) {
  std::map<std::string, std::string> seen;
  for (const DType from : all_dtypes) {
    for (const DType to : all_dtypes) {
      Builder b("convert", {Type::pointer_to(from, true), Type::pointer_to(to)});
      b.store(b.parameter(1), b.cast(b.load(b.parameter(0)), to));
      const std::string what = std::string(name(from)) + " to " + std::string(name(to));
      EXPECT_TRUE(seen.emplace(fingerprint(b.finish()), what).second) << what;
    }
  }
}

TEST(Mutants, EveryShapeDiffers) {
  std::map<std::string, Shape> seen;
  for (const Shape& shape : {Shape{}, {1}, {2}, {4}, {1, 4}, {4, 1}, {2, 2}, {2, 2, 1}, {8}}) {
    Builder b("fill", {Type::pointer_to(DType::f32)});
    const ValueId to = b.broadcast(b.parameter(0), shape);
    b.store(to, b.constant(Type::tile(DType::f32, shape), 0));
    EXPECT_TRUE(seen.emplace(fingerprint(b.finish()), shape).second) << to_string(shape);
  }
}

}  // namespace
}  // namespace teeny::ir
