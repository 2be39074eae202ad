#include "compiler/passes/axis_analysis.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace teeny::compiler {

using ir::Block;
using ir::no_value;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

namespace {

/// Rounds of a loop that are followed until what is known of its values must have settled.
constexpr int max_rounds = 4;

/// An element as facts read it: with its sign.
std::uint64_t extended(const Op& constant, DType dtype) {
  const int unused = 64 - bits_of(dtype);
  if (!is_signed_int(dtype)) return constant.bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(constant.bits << unused) >> unused);
}

int trailing_zeros(std::uint64_t number) {
  return std::min(std::countr_zero(number), divides_zero);
}

}  // namespace

AxisAnalysis::AxisAnalysis(const ir::Kernel& kernel)
    : kernel_(kernel),
      facts_(kernel.values.size()),
      roots_(kernel.values.size(), no_value),
      constants_(kernel.values.size()),
      not_negative_(kernel.values.size()) {
  for (const ValueId argument : kernel.body.arguments) forget(argument);
  visit(kernel.body);
}

bool AxisAnalysis::is_integer(ValueId value) const {
  return !type(value).pointer && is_int(type(value).dtype);
}

std::vector<int> AxisAnalysis::axis_bits(ValueId value) const {
  std::vector<int> bits;
  for (const std::int64_t extent : type(value).shape) {
    bits.push_back(std::countr_zero(static_cast<std::uint64_t>(extent)));
  }
  if (bits.empty()) bits.push_back(0);
  return bits;
}

AxisAnalysis::Facts AxisAnalysis::splat(ValueId value, int divisible) const {
  Facts facts;
  for (const int bits : axis_bits(value)) facts.push_back(splat_facts(bits, divisible));
  return facts;
}

void AxisAnalysis::forget(ValueId value) {
  const bool root = type(value).pointer && type(value).shape.empty();
  roots_[value] = root ? value : no_value;
  facts_[value] = root ? splat(value, divides_zero) : Facts(axis_bits(value).size());
  not_negative_[value] = false;
}

bool AxisAnalysis::meet_with(ValueId value, ValueId other) {
  // What is measured from itself stays so.
  if (roots_[value] == value) return false;
  const Facts before = facts_[value];
  const ValueId root = roots_[value];
  const bool was_not_negative = not_negative_[value];
  if (root != roots_[other] && type(value).pointer && type(value).shape.empty()) {
    forget(value);
    return true;
  }
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    AxisFacts& facts = facts_[value][axis];
    facts = meet(facts, facts_[other][axis]);
    if (root != roots_[other]) facts.divisible = 0;
  }
  if (root != roots_[other]) roots_[value] = no_value;
  not_negative_[value] = was_not_negative && not_negative_[other];
  return facts_[value] != before || roots_[value] != root ||
         not_negative_[value] != was_not_negative;
}

void AxisAnalysis::visit(const Block& block) {
  for (const Op& op : block.ops) visit(op);
}

void AxisAnalysis::visit(const Op& op) {
  if (op.code == Opcode::fold) return visit_fold(op);
  if (op.code == Opcode::if_) return visit_if(op);
  if (op.code == Opcode::offset) return visit_offset(op);
  for (const ValueId result : op.results) forget(result);
  for (const Block& region : op.regions) {
    for (const ValueId argument : region.arguments) forget(argument);
    visit(region);
  }
  if (op.results.size() != 1) return;
  const ValueId result = op.results[0];
  not_negative_[result] = is_integer(result) && never_negative(op);
  switch (op.code) {
    case Opcode::constant: {
      constants_[result] = &op;
      const DType dtype = type(result).dtype;
      facts_[result] = splat(result, is_int(dtype) ? trailing_zeros(extended(op, dtype)) : 0);
      return;
    }
    case Opcode::arange: {
      AxisFacts& facts = facts_[result][0];
      facts.contiguous = axis_bits(result)[0];
      facts.divisible = trailing_zeros(static_cast<std::uint64_t>(op.index));
      return;
    }
    case Opcode::reshape:
    case Opcode::broadcast:
    case Opcode::permute: {
      const ValueId operand = op.operands[0];
      roots_[result] = roots_[operand];
      if (op.code == Opcode::reshape) {
        facts_[result] = reshaped(operand, result);
      } else if (op.code == Opcode::broadcast) {
        facts_[result] = spread(operand, result);
      } else {
        for (std::size_t d = 0; d < op.dims.size(); ++d) {
          facts_[result][d] = facts_[operand][static_cast<std::size_t>(op.dims[d])];
        }
      }
      return;
    }
    default:
      if (!ir::is_elementwise(op.code)) return;
      if (type(result).pointer) return visit_choice(op);
      facts_[result] = elementwise(op);
  }
}

void AxisAnalysis::visit_choice(const Op& op) {
  const ValueId result = op.results[0];
  const ValueId root = roots_[op.operands[1]];
  const bool one_root = root != no_value && root == roots_[op.operands[2]];
  if (!one_root && type(result).shape.empty()) return;
  facts_[result] = elementwise(op);
  roots_[result] = one_root ? root : no_value;
  if (one_root) return;
  for (AxisFacts& facts : facts_[result]) facts.divisible = 0;
}

void AxisAnalysis::visit_fold(const Op& op) {
  const Block& body = op.regions[0];
  const ValueId counter = body.arguments[0];
  forget(counter);
  facts_[counter][0].divisible = std::min(divisible_at(facts_[op.operands[0]][0], 0),
                                          divisible_at(facts_[op.operands[2]][0], 0));
  not_negative_[counter] = not_negative_[op.operands[0]];
  const auto become = [this](ValueId value, ValueId other) {
    facts_[value] = facts_[other];
    roots_[value] = roots_[other];
    not_negative_[value] = not_negative_[other];
  };
  // Until a round ends with what it began with: at first that is what the first round begins with.
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    become(body.arguments[1 + i], op.operands[3 + i]);
  }
  for (int round = 0;; ++round) {
    visit(body);
    bool changed = false;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const ValueId argument = body.arguments[1 + i];
      if (!meet_with(argument, body.ops.back().operands[i])) continue;
      changed = true;
      if (round >= max_rounds) forget(argument);
    }
    if (!changed) break;
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId argument = body.arguments[1 + i];
    // Where the loop ends it has another value than in any round.
    if (roots_[argument] == argument) {
      forget(op.results[i]);
    } else {
      become(op.results[i], argument);
    }
  }
}

void AxisAnalysis::visit_if(const Op& op) {
  for (const Block& region : op.regions) visit(region);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = op.results[i];
    const ValueId yes = op.regions[0].ops.back().operands[i];
    facts_[result] = facts_[yes];
    roots_[result] = roots_[yes];
    not_negative_[result] = not_negative_[yes];
    meet_with(result, op.regions[1].ops.back().operands[i]);
  }
}

void AxisAnalysis::visit_offset(const Op& op) {
  const ValueId result = op.results[0];
  const ValueId pointer = op.operands[0];
  const int unit_bits = std::countr_zero(static_cast<unsigned>(size_of(type(result).dtype)));
  forget(result);
  Facts facts = facts_[result];
  for (std::size_t axis = 0; axis < facts.size(); ++axis) {
    facts[axis] = offset_facts(facts_[pointer][axis], facts_[op.operands[1]][axis], unit_bits);
    if (roots_[pointer] == no_value) facts[axis].divisible = 0;
  }
  // A scalar that is far from its root at an odd distance tells more as a root of its own.
  constexpr int vector_bits = 4;
  if (type(result).shape.empty() && facts[0].divisible < vector_bits) return;
  facts_[result] = std::move(facts);
  roots_[result] = roots_[pointer];
}

AxisAnalysis::Facts AxisAnalysis::elementwise(const Op& op) const {
  Facts facts(axis_bits(op.results[0]).size());
  for (std::size_t axis = 0; axis < facts.size(); ++axis) facts[axis] = elementwise(op, axis);
  return facts;
}

AxisFacts AxisAnalysis::elementwise(const Op& op, std::size_t axis) const {
  const auto operand = [&](std::size_t i) -> const AxisFacts& {
    return facts_[op.operands[i]][axis];
  };
  const Op* constant = op.operands.size() == 2 ? constants_[op.operands[1]] : nullptr;
  const DType dtype = type(op.operands.back()).dtype;
  const std::uint64_t number = constant != nullptr ? extended(*constant, dtype) : 0;
  const int width = bits_of(dtype);
  // Whatever is done to each element, where all operands stay the same, so does the result.
  AxisFacts same = operand(0);
  for (std::size_t i = 1; i < op.operands.size(); ++i) {
    same.constant = std::min(same.constant, operand(i).constant);
  }
  same = splat_facts(same.constant, 0);
  if (op.code == Opcode::select) return choice_facts(operand(0), operand(1), operand(2));
  if (op.code == Opcode::compare && is_integer(op.operands[0])) {
    return comparison_facts(op.predicate, operand(0), operand(1));
  }
  if ((op.code == Opcode::bit_and || op.code == Opcode::bit_or) && dtype == DType::boolean) {
    same.falling = std::min(operand(0).falling, operand(1).falling);
    return same;
  }
  if (!is_integer(op.operands[0]) || !is_integer(op.results[0])) return same;
  switch (op.code) {
    case Opcode::cast:
    case Opcode::bitcast:
      return cast_facts(operand(0), dtype, type(op.results[0]).dtype);
    case Opcode::add:
      return sum_facts(operand(0), operand(1), width);
    case Opcode::sub:
      return difference_facts(operand(0), operand(1), width);
    case Opcode::mul:
      return product_facts(operand(0), operand(1));
    case Opcode::neg:
    case Opcode::abs:
      same.divisible = divisible_at(operand(0), 0);
      return same;
    case Opcode::minimum:
    case Opcode::maximum:
      same.divisible = std::min(divisible_at(operand(0), 0), divisible_at(operand(1), 0));
      return same;
    case Opcode::bit_and:
      if (constant != nullptr) return masked_facts(operand(0), number);
      same.divisible = std::max(divisible_at(operand(0), 0), divisible_at(operand(1), 0));
      return same;
    case Opcode::bit_or:
    case Opcode::bit_xor:
      return joined_facts(operand(0), operand(1));
    case Opcode::shl:
      if (constant == nullptr || number >= static_cast<std::uint64_t>(width)) return same;
      return scaled_facts(operand(0), static_cast<int>(number));
    case Opcode::shr:
      if (constant == nullptr || number >= static_cast<std::uint64_t>(width)) return same;
      return quotient_facts(operand(0), static_cast<int>(number));
    case Opcode::div:
      if (!divides_by_bits(op)) return same;
      return quotient_facts(operand(0), std::countr_zero(number));
    case Opcode::rem:
      if (!divides_by_bits(op)) return same;
      return masked_facts(operand(0), number - 1);
    default:
      return same;
  }
}

bool AxisAnalysis::divides_by_bits(const Op& op) const {
  const Op* constant = constants_[op.operands[1]];
  const DType dtype = type(op.operands[0]).dtype;
  if (constant == nullptr || !std::has_single_bit(extended(*constant, dtype))) return false;
  return !is_signed_int(dtype) || not_negative_[op.operands[0]];
}

bool AxisAnalysis::never_negative(const Op& op) const {
  const auto operand = [&](std::size_t i) { return not_negative_[op.operands[i]]; };
  const DType result = type(op.results[0]).dtype;
  switch (op.code) {
    case Opcode::constant:
      return static_cast<std::int64_t>(extended(op, result)) >= 0;
    case Opcode::program_id:
    case Opcode::num_programs:
      return true;
    case Opcode::arange:
      return op.index >= 0;
    case Opcode::reshape:
    case Opcode::broadcast:
    case Opcode::permute:
    case Opcode::shr:
      return operand(0);
    case Opcode::cast: {
      const DType from = type(op.operands[0]).dtype;
      if (!is_int(from)) return false;
      return is_signed_int(from) ? operand(0) && bits_of(result) >= bits_of(from)
                                 : bits_of(result) > bits_of(from);
    }
    case Opcode::div:
    case Opcode::minimum:
      return operand(0) && operand(1);
    case Opcode::rem:
      return operand(0);
    case Opcode::maximum:
    case Opcode::bit_and:
      return operand(0) || operand(1);
    default:
      return false;
  }
}

AxisAnalysis::Facts AxisAnalysis::spread(ValueId from, ValueId to) const {
  if (type(from).shape.empty()) return splat(to, divisible_at(facts_[from][0], 0));
  const std::vector<int> bits = axis_bits(to);
  const std::vector<int> old_bits = axis_bits(from);
  Facts facts = facts_[from];
  for (std::size_t axis = 0; axis < facts.size(); ++axis) {
    if (old_bits[axis] == bits[axis]) continue;
    facts[axis] = splat_facts(bits[axis], divisible_at(facts[axis], 0));
  }
  return facts;
}

AxisAnalysis::Facts AxisAnalysis::reshaped(ValueId from, ValueId to) const {
  // Axes by the bits of the row-major index that they are, which stays what it is.
  struct Axis {
    int first;
    int end;
    const AxisFacts* facts;
  };
  const std::vector<int> old_bits = axis_bits(from);
  std::vector<Axis> old;
  int divisible = 0;  // what one axis says of all elements, all may say
  int bit = 0;
  for (std::size_t axis = old_bits.size(); axis-- > 0;) {
    const AxisFacts& facts = facts_[from][axis];
    divisible = std::max(divisible, divisible_at(facts, 0));
    if (old_bits[axis] > 0) old.push_back({bit, bit + old_bits[axis], &facts});
    bit += old_bits[axis];
  }
  const std::vector<int> bits = axis_bits(to);
  Facts result(bits.size());
  int first = 0;
  for (std::size_t axis = bits.size(); axis-- > 0;) {
    const int end = first + bits[axis];
    AxisFacts& facts = result[axis];
    int same = first;  // where bits begin to matter
    for (const Axis& one : old) {
      if (one.first == first && first != end) {
        facts = cut(*one.facts, std::min(one.end, end) - first);
      }
      if (one.first <= same && same < one.end) {
        same = std::max(same, one.first + one.facts->constant);
        if (same < one.end) break;
      }
    }
    facts.constant = std::min(same, end) - first;
    facts.falling = std::max(facts.falling, facts.constant);
    facts.divisible = std::max(facts.divisible, divisible);
    first = end;
  }
  return result;
}

std::vector<int> AxisAnalysis::memory_order(ValueId pointer) const {
  const Facts& facts = facts_.at(pointer);
  const std::vector<int> bits = axis_bits(pointer);
  std::vector<int> order(type(pointer).shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const auto rank = [&](int d) {
    const auto axis = static_cast<std::size_t>(d);
    return facts[axis].constant == bits[axis] ? 1 : -facts[axis].contiguous;
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a > b; });
  return order;
}

}  // namespace teeny::compiler
