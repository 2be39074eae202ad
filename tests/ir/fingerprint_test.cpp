#include "teeny/ir/fingerprint.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/ir/random_kernel.hpp"
#include "tests/ir/sample_kernel.hpp"

#include "teeny/ir/rewrite.hpp"
#include "teeny/ir/text.hpp"
#include "teeny/ir/verify.hpp"

namespace teeny::ir {
namespace {

using Values = std::vector<ValueId>;

// --- what must not change it ---

void used_values(const Op& op, std::set<ValueId>& used) {
  used.insert(op.operands.begin(), op.operands.end());
  for (const Block& region : op.regions) {
    for (const Op& inner : region.ops) used_values(inner, used);
  }
}

/// Another order of the operations that a compiler could have recorded: operands come first, writes
/// stay in order, and a read stays between the writes around it.
void shuffle(Block& block, std::mt19937& random) {
  const std::size_t count = block.ops.size();
  std::vector<std::set<std::size_t>> before(count);  // what must precede
  std::map<ValueId, std::size_t> maker;
  std::optional<std::size_t> last_write;
  std::vector<std::size_t> reads_since;
  for (std::size_t i = 0; i < count; ++i) {
    Op& op = block.ops[i];
    for (Block& region : op.regions) shuffle(region, random);
    std::set<ValueId> used;
    used_values(op, used);
    for (const ValueId id : used) {
      if (maker.count(id) != 0) before[i].insert(maker[id]);
    }
    for (const ValueId id : op.results) maker[id] = i;
    if (writes_memory(op)) {
      before[i].insert(reads_since.begin(), reads_since.end());
      if (last_write) before[i].insert(*last_write);
      reads_since.clear();
      last_write = i;
    } else if (reads_memory(op)) {
      if (last_write) before[i].insert(*last_write);
      reads_since.push_back(i);
    }
    if (op.code == Opcode::yield) {
      for (std::size_t k = 0; k < i; ++k) before[i].insert(k);
    }
  }
  std::vector<Op> ordered;
  std::vector<bool> done(count, false);
  while (ordered.size() < count) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < count; ++i) {
      if (!done[i] &&
          std::all_of(before[i].begin(), before[i].end(), [&](std::size_t k) { return done[k]; })) {
        ready.push_back(i);
      }
    }
    const std::size_t chosen = ready[random() % ready.size()];
    done[chosen] = true;
    ordered.push_back(block.ops[chosen]);
  }
  block.ops = std::move(ordered);
}

TEST(Fingerprint, OrderOfIndependentOperationsIsNotInIt) {
  std::mt19937 random(3);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Kernel kernel = seed == 0 ? sample_kernel() : random_kernel(seed).kernel;
    for (int round = 0; round < 3; ++round) {
      Kernel shuffled = kernel;
      shuffle(shuffled.body, random);
      ASSERT_NO_THROW(verify(shuffled)) << seed;
      EXPECT_NE(print(shuffled), print(kernel));
      ASSERT_EQ(fingerprint(shuffled), fingerprint(kernel)) << "seed " << seed;
    }
  }
}

TEST(Fingerprint, DuplicatesAreNotInIt) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Kernel kernel = seed == 0 ? sample_kernel() : random_kernel(seed).kernel;
    std::size_t copies = 0;
    // Every pure operation without regions twice, its uses spread over both.
    const Kernel doubled = rewrite(kernel, [&](Builder& builder, const Op& mapped, const Op& op) {
      std::optional<Values> result;
      if (op.results.size() == 1 && op.regions.empty()) {
        const Type* type = states_result_type(op.code) ? &kernel.type(op.results[0]) : nullptr;
        const ValueId first = builder.append(mapped, type);
        const ValueId second = builder.append(mapped, type);
        result = Values{++copies % 2 == 0 ? first : second};
      }
      return result;
    });
    EXPECT_GT(copies, 0U);
    ASSERT_EQ(fingerprint(doubled), fingerprint(kernel)) << "seed " << seed;
  }
}

TEST(Fingerprint, DeadOperationsAreNotInIt) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Kernel kernel = seed == 0 ? sample_kernel() : random_kernel(seed).kernel;
    const Kernel padded = rewrite(kernel, [](Builder& builder, const Op&, const Op& op) {
      const ValueId n = builder.program_id(2);
      builder.unary(Opcode::neg, n);
      // Not everything may stand in the region of a reduction.
      if (is_elementwise(op.code) || op.code == Opcode::constant) return std::optional<Values>{};
      builder.unary(Opcode::neg, builder.constant(Type::tile(DType::f32, {8}), 0x3f800000));
      builder.fold(n, n, n, {n}, [&](const Values& a) {
        return Values{builder.binary(Opcode::add, a[0], a[1])};
      });
      return std::optional<Values>{};
    });
    ASSERT_EQ(fingerprint(padded), fingerprint(kernel)) << "seed " << seed;
  }
}

TEST(Fingerprint, NumbersOfValuesAreNotInIt) {
  Kernel kernel = sample_kernel();
  const std::string before = fingerprint(kernel);
  // A gap, as passes that remove operations leave it.
  kernel.values.push_back(Type::scalar(DType::f64));
  EXPECT_EQ(fingerprint(kernel), before);
  EXPECT_EQ(fingerprint(parse(print(kernel))), before);
}

TEST(Fingerprint, APureFoldMayStandBeforeOrAfterAWrite) {
  const auto make = [](bool first) {
    Builder b("k", {Type::pointer_to(DType::i32), Type::scalar(DType::i32)});
    const ValueId n = b.parameter(1);
    ValueId sum = no_value;
    const auto fold = [&] {
      sum = b.fold(n, n, n, {n},
                   [&](const Values& a) { return Values{b.binary(Opcode::mul, a[0], a[1])}; })[0];
    };
    if (first) fold();
    b.store(b.parameter(0), n);
    if (!first) fold();
    b.store(b.parameter(0), sum);
    return fingerprint(b.finish());
  };
  EXPECT_EQ(make(true), make(false));
}

// --- what must change it ---

TEST(Fingerprint, NameOptionsAndParametersAreInIt) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, KernelOptions options,
                       const std::vector<Type>& types) {
    Builder b(name, types, options);
    EXPECT_TRUE(seen.insert(fingerprint(b.finish())).second) << name;
  };
  const std::vector<Type> types = {Type::pointer_to(DType::f32), Type::scalar(DType::i32)};
  add("k", {}, types);
  add("k2", {}, types);
  add("k", {8, 1, 0}, types);
  add("k", {4, 2, 0}, types);
  add("k", {4, 1, 32}, types);
  add("k", {}, {});
  add("k", {}, {Type::pointer_to(DType::f32)});
  add("k", {}, {Type::pointer_to(DType::f32, true), Type::scalar(DType::i32)});
  add("k", {}, {Type::pointer_to(DType::f16), Type::scalar(DType::i32)});
  add("k", {}, {Type::pointer_to(DType::f32), Type::scalar(DType::u32)});
  add("k", {}, {Type::scalar(DType::i32), Type::pointer_to(DType::f32)});
}

TEST(Fingerprint, P22_SameNameAnotherBody) {
  const auto make = [](Opcode code) {
    Builder b("blur", {Type::pointer_to(DType::f32)});
    const ValueId x = b.load(b.parameter(0));
    b.store(b.parameter(0), b.binary(code, x, x));
    return fingerprint(b.finish());
  };
  EXPECT_NE(make(Opcode::add), make(Opcode::mul));
}

TEST(Fingerprint, P19_FollowsWhatIsRecordedNotWhereItIsWritten) {
  // A helper of "another header": the fingerprint changes with what it records, and only with that.
  const auto make = [](const auto& helper) {
    Builder b("tone", {Type::pointer_to(DType::f32)});
    b.store(b.parameter(0), helper(b, b.load(b.parameter(0))));
    return fingerprint(b.finish());
  };
  const auto half = [](Builder& b, ValueId x) {
    return b.binary(Opcode::mul, x, b.constant(Type::scalar(DType::f32), 0x3f000000));
  };
  const auto half_written_anew = [](Builder& b, ValueId x) {
    const ValueId factor = b.constant(Type::scalar(DType::f32), 0x3f000000);
    return b.binary(Opcode::mul, x, factor);
  };
  const auto third = [](Builder& b, ValueId x) {
    return b.binary(Opcode::mul, x, b.constant(Type::scalar(DType::f32), 0x3eaaaaab));
  };
  EXPECT_EQ(make(half), make(half_written_anew));
  EXPECT_NE(make(half), make(third));
}

/// Kernels that differ only in what happens when.
class Order {
 public:
  template <class Body>
  void add(const std::string& what, const Body& body) {
    Builder b("k", {Type::pointer_to(DType::i32), Type::pointer_to(DType::i32),
                    Type::scalar(DType::i32), Type::scalar(DType::boolean)});
    body(b, b.parameter(0), b.parameter(1), b.parameter(2), b.parameter(3));
    const auto [at, is_new] = seen_.emplace(fingerprint(b.finish()), what);
    EXPECT_TRUE(is_new) << what << " is as " << at->second;
  }

 private:
  std::map<std::string, std::string> seen_;
};

TEST(Fingerprint, OrderOfEffectsIsInIt) {
  using V = ValueId;
  Order order;
  order.add("nothing", [](Builder&, V, V, V, V) {});
  order.add("p", [](Builder& b, V p, V, V n, V) { b.store(p, n); });
  order.add("q", [](Builder& b, V, V q, V n, V) { b.store(q, n); });
  order.add("p q", [](Builder& b, V p, V q, V n, V) { b.store(p, n), b.store(q, n); });
  order.add("q p", [](Builder& b, V p, V q, V n, V) { b.store(q, n), b.store(p, n); });
  order.add("p p", [](Builder& b, V p, V, V n, V) { b.store(p, n), b.store(p, n); });
  order.add("load q, p, q", [](Builder& b, V p, V q, V n, V) {
    const V x = b.load(q);
    b.store(p, n);
    b.store(q, x);
  });
  order.add("p, load q, q", [](Builder& b, V p, V q, V n, V) {
    b.store(p, n);
    b.store(q, b.load(q));
  });
  const auto nothing = [] { return Values{}; };
  order.add("if c: p", [&](Builder& b, V p, V, V n, V c) {
    b.if_(c, [&] { return b.store(p, n), Values{}; }, nothing);
  });
  order.add("if not c: p", [&](Builder& b, V p, V, V n, V c) {
    b.if_(c, nothing, [&] { return b.store(p, n), Values{}; });
  });
  order.add("if c: p else q", [&](Builder& b, V p, V q, V n, V c) {
    b.if_(c, [&] { return b.store(p, n), Values{}; }, [&] { return b.store(q, n), Values{}; });
  });
  order.add("if c: q else p", [&](Builder& b, V p, V q, V n, V c) {
    b.if_(c, [&] { return b.store(q, n), Values{}; }, [&] { return b.store(p, n), Values{}; });
  });
  order.add("load p inside if", [&](Builder& b, V p, V q, V n, V c) {
    b.store(q, b.if_(c, [&] { return Values{b.load(p)}; }, [&] { return Values{n}; })[0]);
  });
  order.add("load p before if", [&](Builder& b, V p, V q, V n, V c) {
    const V x = b.load(p);
    b.store(q, b.if_(c, [&] { return Values{x}; }, [&] { return Values{n}; })[0]);
  });
  order.add("fold: p", [](Builder& b, V p, V, V n, V) {
    b.fold(n, n, n, {}, [&](const Values&) { return b.store(p, n), Values{}; });
  });
  order.add("fold: load q, p", [](Builder& b, V p, V q, V n, V) {
    b.fold(n, n, n, {}, [&](const Values&) { return b.store(p, b.load(q)), Values{}; });
  });
  order.add("load q, fold: p", [](Builder& b, V p, V q, V n, V) {
    const V x = b.load(q);
    b.fold(n, n, n, {}, [&](const Values&) { return b.store(p, x), Values{}; });
  });
  order.add("fold: p, load q, q", [](Builder& b, V p, V q, V n, V) {
    b.fold(n, n, n, {},
           [&](const Values&) { return b.store(p, n), b.store(q, b.load(q)), Values{}; });
  });
  order.add("fold: load q, p, q", [](Builder& b, V p, V q, V n, V) {
    b.fold(n, n, n, {}, [&](const Values&) {
      const V x = b.load(q);
      b.store(p, n);
      b.store(q, x);
      return Values{};
    });
  });
  order.add("fold carries, twice the same", [](Builder& b, V p, V, V n, V) {
    const Values r = b.fold(n, n, n, {n, n}, [&](const Values& a) { return Values{a[1], a[2]}; });
    b.store(p, r[0]);
  });
  order.add("its second result", [](Builder& b, V p, V, V n, V) {
    const Values r = b.fold(n, n, n, {n, n}, [&](const Values& a) { return Values{a[1], a[2]}; });
    b.store(p, r[1]);
  });
  order.add("fold carries, swapped", [](Builder& b, V p, V, V n, V) {
    const Values r = b.fold(n, n, n, {n, n}, [&](const Values& a) { return Values{a[2], a[1]}; });
    b.store(p, r[0]);
  });
  order.add("inner fold, its own index", [](Builder& b, V p, V, V n, V) {
    b.fold(n, n, n, {}, [&](const Values&) {
      b.fold(n, n, n, {}, [&](const Values& inner) { return b.store(p, inner[0]), Values{}; });
      return Values{};
    });
  });
  order.add("inner fold, the outer index", [](Builder& b, V p, V, V n, V) {
    b.fold(n, n, n, {}, [&](const Values& outer) {
      b.fold(n, n, n, {}, [&](const Values&) { return b.store(p, outer[0]), Values{}; });
      return Values{};
    });
  });
}

// --- one value for every machine ---

TEST(Fingerprint, IsTheSameEverywhere) {
  // Kept here, so that another compiler, another architecture and other options must agree. A
  // change of what fingerprints cover needs a new ir_version, and then a new value here.
  EXPECT_EQ(ir_version, 1);
  EXPECT_EQ(fingerprint(sample_kernel()),
            "5c112fe94d5a827a341aac950f0e7251baa3745799017acdf5161d8d43d95079");
  Builder empty("empty", {});
  EXPECT_EQ(fingerprint(empty.finish()),
            "36a3f183c9e3353fe043d0ba9ee166718f43a3f281442b34b4ced2d9de42a722");
}

TEST(Fingerprint, TakesLinearTime) {
  // Each value uses the one before it twice: as a tree this has 2^20000 leaves.
  Builder b("deep", {Type::pointer_to(DType::i32)});
  ValueId x = b.load(b.parameter(0));
  for (int i = 0; i < 20000; ++i) x = b.binary(Opcode::add, x, x);
  b.store(b.parameter(0), x);
  EXPECT_EQ(fingerprint(b.finish()).size(), 64U);
}

}  // namespace
}  // namespace teeny::ir
