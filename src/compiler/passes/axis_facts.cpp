#include "compiler/passes/axis_facts.hpp"

#include <algorithm>
#include <bit>

namespace teeny::compiler {
namespace {

int capped(int divisible) { return std::min(divisible, divides_zero); }

AxisFacts constant_facts(const AxisFacts& a, const AxisFacts& b) {
  AxisFacts facts;
  facts.constant = facts.falling = std::min(a.constant, b.constant);
  return facts;
}

/// `wraps` where what may already wrap is computed modulo 2^width. Two ends to go over are more
/// than can be told, unless going over the nearer one does not show.
void wrap_at(AxisFacts& facts, int width) {
  if (facts.contiguous == 0) {
    facts.wraps = 0;
  } else if (facts.wraps == 0 || width < facts.wraps) {
    facts.wraps = width;
  } else if (width != facts.wraps && width != 64) {
    facts.divisible = divisible_at(facts, 0);
    facts.contiguous = facts.wraps = 0;
  }
  if (facts.divisible >= facts.contiguous) facts.wraps = 0;
}

/// Contiguous a, moved by b, which is the same in each group: their sum or difference, of exact
/// numbers. What divides them is told by the caller.
AxisFacts moved(const AxisFacts& a, const AxisFacts& b) {
  AxisFacts facts = constant_facts(a, b);
  facts.contiguous = std::min(a.contiguous, b.constant);
  if (facts.contiguous > 0) facts.wraps = a.wraps;
  return facts;
}

AxisFacts exact_sum(const AxisFacts& a, const AxisFacts& b) {
  const bool by_first = std::min(a.contiguous, b.constant) >= std::min(b.contiguous, a.constant);
  return by_first ? moved(a, b) : moved(b, a);
}

}  // namespace

AxisFacts splat_facts(int bits, int divisible) noexcept {
  AxisFacts facts;
  facts.constant = facts.falling = bits;
  facts.divisible = divisible;
  return facts;
}

int divisible_at(const AxisFacts& facts, int bits, int unit_bits) noexcept {
  // Within a group it counts how far from its first element they are.
  return bits >= facts.contiguous ? facts.divisible : std::min(facts.divisible, bits + unit_bits);
}

bool may_wrap(const AxisFacts& facts, int bits, int unit_bits) noexcept {
  return facts.wraps != 0 && facts.wraps < 64 && facts.divisible - unit_bits < bits;
}

AxisFacts meet(const AxisFacts& a, const AxisFacts& b) noexcept {
  AxisFacts facts;
  facts.constant = std::min(a.constant, b.constant);
  facts.falling = std::min(a.falling, b.falling);
  facts.contiguous = std::min(a.contiguous, b.contiguous);
  if (a.wraps != 0 && b.wraps != 0 && a.wraps != b.wraps) facts.contiguous = 0;
  if (facts.contiguous > 0) facts.wraps = std::max(a.wraps, b.wraps);
  facts.divisible = std::min(divisible_at(a, facts.contiguous), divisible_at(b, facts.contiguous));
  return facts;
}

AxisFacts cut(AxisFacts facts, int bits) noexcept {
  facts.constant = std::min(facts.constant, bits);
  facts.falling = std::min(facts.falling, bits);
  facts.divisible = divisible_at(facts, bits);
  facts.contiguous = std::min(facts.contiguous, bits);
  if (facts.contiguous == 0) facts.wraps = 0;
  return facts;
}

AxisFacts sum_facts(const AxisFacts& a, const AxisFacts& b, int width) noexcept {
  AxisFacts facts = exact_sum(a, b);
  facts.divisible = std::min(divisible_at(a, facts.contiguous), divisible_at(b, facts.contiguous));
  wrap_at(facts, width);
  return facts;
}

AxisFacts difference_facts(const AxisFacts& a, const AxisFacts& b, int width) noexcept {
  AxisFacts facts = moved(a, b);
  facts.divisible = std::min(divisible_at(a, facts.contiguous), divisible_at(b, facts.contiguous));
  wrap_at(facts, width);
  return facts;
}

AxisFacts offset_facts(const AxisFacts& a, const AxisFacts& b, int unit_bits) noexcept {
  AxisFacts facts = exact_sum(a, b);
  facts.divisible = std::min(divisible_at(a, facts.contiguous, unit_bits),
                             capped(divisible_at(b, facts.contiguous) + unit_bits));
  return facts;
}

AxisFacts product_facts(const AxisFacts& a, const AxisFacts& b) noexcept {
  AxisFacts facts = constant_facts(a, b);
  facts.divisible = capped(divisible_at(a, 0) + divisible_at(b, 0));
  return facts;
}

AxisFacts scaled_facts(const AxisFacts& a, int bits) noexcept {
  return product_facts(a, splat_facts(a.constant, bits));
}

AxisFacts quotient_facts(const AxisFacts& a, int bits) noexcept {
  AxisFacts facts = constant_facts(a, a);
  // From a multiple on, numbers have one quotient until the next multiple.
  facts.constant = std::max(facts.constant, std::min({a.contiguous, a.divisible, bits}));
  facts.falling = facts.constant;
  facts.divisible = std::max(0, divisible_at(a, 0) - bits);
  return facts;
}

AxisFacts masked_facts(const AxisFacts& a, std::uint64_t mask) noexcept {
  AxisFacts facts = constant_facts(a, a);
  const int steady = std::min(a.contiguous, a.divisible);
  facts.contiguous = std::min(steady, std::countr_one(mask));
  facts.constant = std::max(facts.constant, std::min(steady, std::countr_zero(mask)));
  facts.falling = facts.constant;
  facts.divisible = std::max(divisible_at(a, facts.contiguous), capped(std::countr_zero(mask)));
  return facts;
}

AxisFacts joined_facts(const AxisFacts& a, const AxisFacts& b) noexcept {
  AxisFacts facts = constant_facts(a, b);
  // The bits that change within a group are zero in the other operand.
  const auto low_bits = [](const AxisFacts& x, const AxisFacts& y) {
    return std::min({x.contiguous, x.divisible, y.constant, divisible_at(y, 0)});
  };
  facts.contiguous = std::max(low_bits(a, b), low_bits(b, a));
  facts.divisible = std::min(divisible_at(a, facts.contiguous), divisible_at(b, facts.contiguous));
  return facts;
}

AxisFacts comparison_facts(ir::Predicate predicate, const AxisFacts& a,
                           const AxisFacts& b) noexcept {
  using enum ir::Predicate;
  if (predicate == gt) return comparison_facts(lt, b, a);
  if (predicate == ge) return comparison_facts(le, b, a);
  AxisFacts facts = constant_facts(a, b);
  if (predicate != lt && predicate != le) return facts;
  // Without a step over the end of the integers, of any width.
  const auto ascending = [](const AxisFacts& x) {
    return x.wraps == 0 ? x.contiguous : std::min(x.contiguous, x.divisible);
  };
  // Between two multiples there is none.
  const auto apart = [](const AxisFacts& x, const AxisFacts& bound) {
    return std::min({x.contiguous, x.divisible, bound.constant, divisible_at(bound, 0)});
  };
  // x < bound; or not (x < bound), which is bound <= x.
  const int steady = predicate == lt ? apart(a, b) : apart(b, a);
  facts.constant = std::max(facts.constant, steady);
  facts.falling = std::max(facts.constant, std::min(ascending(a), b.constant));
  return facts;
}

AxisFacts choice_facts(const AxisFacts& condition, const AxisFacts& yes,
                       const AxisFacts& no) noexcept {
  AxisFacts facts = meet(cut(yes, condition.constant), cut(no, condition.constant));
  facts.falling = facts.constant;
  return facts;
}

AxisFacts cast_facts(const AxisFacts& a, DType from, DType to) noexcept {
  AxisFacts facts = a;
  facts.falling = facts.constant;
  const int width = bits_of(to);
  const bool same_sign = is_signed_int(from) == is_signed_int(to);
  const bool every_number_kept = width > bits_of(from) ? same_sign || !is_signed_int(from)
                                                       : width == bits_of(from) && same_sign;
  if (!every_number_kept) wrap_at(facts, width);
  return facts;
}

}  // namespace teeny::compiler
