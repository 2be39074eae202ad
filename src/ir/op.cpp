#include "teeny/ir/op.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ir/rules.hpp"

namespace teeny::ir {

namespace {

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
constexpr unsigned none = 0;

// In the order of Opcode.
constexpr OpcodeRules table[] = {
    {"constant", 0, 0, attribute_bits, 0, true},
    {"program_id", 0, 0, attribute_index, 0, false},
    {"num_programs", 0, 0, attribute_index, 0, false},
    {"arange", 0, 0, attribute_index, 0, true},
    {"cast", 1, 1, none, 0, true},
    {"bitcast", 1, 1, none, 0, true},
    {"neg", 1, 1, none, 0, false},
    {"abs", 1, 1, none, 0, false},
    {"bit_not", 1, 1, none, 0, false},
    {"exp", 1, 1, none, 0, false},
    {"exp2", 1, 1, none, 0, false},
    {"log", 1, 1, none, 0, false},
    {"log2", 1, 1, none, 0, false},
    {"sqrt", 1, 1, none, 0, false},
    {"rsqrt", 1, 1, none, 0, false},
    {"sin", 1, 1, none, 0, false},
    {"cos", 1, 1, none, 0, false},
    {"tanh", 1, 1, none, 0, false},
    {"sigmoid", 1, 1, none, 0, false},
    {"erf", 1, 1, none, 0, false},
    {"floor", 1, 1, none, 0, false},
    {"ceil", 1, 1, none, 0, false},
    {"round", 1, 1, none, 0, false},
    {"add", 2, 2, none, 0, false},
    {"sub", 2, 2, none, 0, false},
    {"mul", 2, 2, none, 0, false},
    {"div", 2, 2, none, 0, false},
    {"rem", 2, 2, none, 0, false},
    {"minimum", 2, 2, none, 0, false},
    {"maximum", 2, 2, none, 0, false},
    {"bit_and", 2, 2, none, 0, false},
    {"bit_or", 2, 2, none, 0, false},
    {"bit_xor", 2, 2, none, 0, false},
    {"shl", 2, 2, none, 0, false},
    {"shr", 2, 2, none, 0, false},
    {"umulhi", 2, 2, none, 0, false},
    {"compare", 2, 2, attribute_predicate, 0, false},
    {"select", 3, 3, none, 0, false},
    {"fma", 3, 3, none, 0, false},
    {"reshape", 1, 1, none, 0, true},
    {"broadcast", 1, 1, none, 0, true},
    {"permute", 1, 1, attribute_dims, 0, false},
    {"offset", 2, 2, none, 0, false},
    {"load", 1, 3, attribute_cache, 0, false},
    {"store", 2, 3, attribute_cache, 0, false},
    {"load_view", 4, 1 + 3 * max_rank, attribute_bits | attribute_cache, 0, true},
    {"store_view", 5, 2 + 3 * max_rank, attribute_cache, 0, false},
    {"dot", 3, 3, attribute_precision, 0, false},
    {"reduce", 1, any, attribute_index, 1, false},
    {"fold", 3, any, none, 1, false},
    {"if", 1, 1, none, 2, false},
    {"yield", 0, any, none, 0, false},
};
constexpr std::size_t opcode_count = std::size(table);
static_assert(opcode_count == static_cast<std::size_t>(Opcode::yield) + 1);

constexpr std::array<std::string_view, 6> predicates = {"eq", "ne", "lt", "le", "gt", "ge"};

}  // namespace

const OpcodeRules& rules(Opcode code) noexcept {
  // A kernel that was put together by hand may hold anything; the verifier says so by name.
  static constexpr OpcodeRules unknown = {"(no such opcode)", 0, 0, none, 0, false};
  const auto index = static_cast<std::size_t>(code);
  return index < opcode_count ? table[index] : unknown;
}

std::string_view name(Opcode code) noexcept { return rules(code).name; }

const std::vector<Opcode>& all_opcodes() {
  static const std::vector<Opcode> all = [] {
    std::vector<Opcode> codes;
    for (std::size_t i = 0; i < opcode_count; ++i) codes.push_back(static_cast<Opcode>(i));
    return codes;
  }();
  return all;
}

std::string_view name(Predicate predicate) noexcept {
  return predicates[static_cast<std::size_t>(predicate)];
}

const std::vector<Predicate>& all_predicates() {
  static const std::vector<Predicate> all = {Predicate::eq, Predicate::ne, Predicate::lt,
                                             Predicate::le, Predicate::gt, Predicate::ge};
  return all;
}

std::string_view name(Cache cache) noexcept {
  return cache == Cache::streaming ? "streaming" : "automatic";
}

std::string_view name(Precision precision) noexcept {
  return precision == Precision::tf32 ? "tf32" : "ieee";
}

namespace {
template <class Direct>
bool in_op_or_regions(const Op& op, const Direct& direct) {
  if (direct(op.code)) return true;
  return std::any_of(op.regions.begin(), op.regions.end(), [&](const Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(),
                       [&](const Op& inner) { return in_op_or_regions(inner, direct); });
  });
}
}  // namespace

bool writes_memory(const Op& op) {
  return in_op_or_regions(
      op, [](Opcode code) { return code == Opcode::store || code == Opcode::store_view; });
}

bool reads_memory(const Op& op) {
  return in_op_or_regions(
      op, [](Opcode code) { return code == Opcode::load || code == Opcode::load_view; });
}

bool is_elementwise(Opcode code) noexcept {
  return (code >= Opcode::cast && code <= Opcode::fma) || code == Opcode::offset;
}

bool states_result_type(Opcode code) noexcept { return rules(code).stated_type; }

}  // namespace teeny::ir
