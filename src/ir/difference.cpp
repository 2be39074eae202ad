#include "teeny/ir/difference.hpp"

#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/hashes.hpp"
#include "ir/lines.hpp"

namespace teeny::ir {

namespace {

/// One of the two kernels, with what is asked of it.
class Side {
 public:
  explicit Side(const Kernel& kernel)
      : kernel_(kernel),
        hashes_(hashes_of(kernel)),
        lines_(operation_lines(kernel)),
        makers_(kernel.values.size(), nullptr) {
    note(kernel.body, "parameter", "");
  }

  [[nodiscard]] const Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const std::string& fingerprint() const { return hashes_.whole; }
  [[nodiscard]] const Hash& hash(ValueId id) const { return hashes_.values.at(id); }
  [[nodiscard]] const Hash& hash(const Op& op) const { return hashes_.ops.at(&op); }
  /// The operation that makes a value; nullptr for an argument.
  [[nodiscard]] const Op* maker(ValueId id) const { return makers_.at(id); }
  [[nodiscard]] const Type& type(ValueId id) const { return kernel_.type(id); }

  [[nodiscard]] std::string text(const Op& op) const {
    const Line& line = lines_.at(&op);
    return "line " + std::to_string(line.number) + ": " + line.text;
  }
  [[nodiscard]] std::string text(ValueId id) const {
    if (const Op* op = maker(id)) return text(*op);
    return arguments_.at(id) + ": " + to_string(type(id));
  }

 private:
  void note(const Block& block, const std::string& what, const std::string& of) {
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      arguments_[block.arguments[i]] = what + " " + std::to_string(i + 1) + of;
    }
    for (const Op& op : block.ops) {
      for (const ValueId id : op.results) makers_[id] = &op;
      for (const Block& region : op.regions) {
        note(region, "argument",
             " of " + std::string(name(op.code)) + " in line " +
                 std::to_string(lines_.at(&op).number));
      }
    }
  }

  const Kernel& kernel_;
  Hashes hashes_;
  std::unordered_map<const Op*, Line> lines_;
  std::vector<const Op*> makers_;  // by ValueId
  std::unordered_map<ValueId, std::string> arguments_;
};

std::vector<const Op*> effects(const Block& block) {
  std::vector<const Op*> found;
  for (const Op& op : block.ops) {
    if (writes_memory(op)) found.push_back(&op);
  }
  return found;
}

class Comparison {
 public:
  Comparison(const Kernel& wanted, const Kernel& found) : wanted_(wanted), found_(found) {}

  std::optional<Difference> run() const {
    if (wanted_.fingerprint() == found_.fingerprint()) return std::nullopt;
    const Kernel& one = wanted_.kernel();
    const Kernel& other = found_.kernel();
    if (one.name != other.name) return Difference{"kernel " + one.name, "kernel " + other.name};
    if (!(one.options == other.options)) return Difference{text(one.options), text(other.options)};
    if (auto difference = of_arguments(one.body, other.body)) return difference;
    if (auto difference = of_blocks(one.body, other.body)) return difference;
    return Difference{"fingerprint " + wanted_.fingerprint(),
                      "fingerprint " + found_.fingerprint()};
  }

 private:
  static std::string text(const KernelOptions& options) {
    return "num_warps=" + std::to_string(options.num_warps) +
           " num_stages=" + std::to_string(options.num_stages) +
           " max_registers=" + std::to_string(options.max_registers);
  }

  [[nodiscard]] std::string types(const Side& side, const Block& block) const {
    std::string list;
    for (const ValueId id : block.arguments) {
      list += (list.empty() ? "" : ", ") + to_string(side.type(id));
    }
    return "arguments (" + list + ")";
  }

  [[nodiscard]] std::optional<Difference> of_arguments(const Block& one, const Block& other) const {
    std::string wanted = types(wanted_, one);
    std::string found = types(found_, other);
    if (wanted == found) return std::nullopt;
    return Difference{std::move(wanted), std::move(found)};
  }

  [[nodiscard]] std::optional<Difference> of_blocks(const Block& one, const Block& other) const {
    const auto ours = effects(one);
    const auto theirs = effects(other);
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
      if (wanted_.hash(*ours[i]) != found_.hash(*theirs[i])) return of_ops(ours[i], theirs[i]);
    }
    if (ours.size() > theirs.size()) {
      return Difference{wanted_.text(*ours[theirs.size()]), "nothing more"};
    }
    if (ours.size() < theirs.size()) {
      return Difference{"nothing more", found_.text(*theirs[ours.size()])};
    }
    if (one.ops.empty() || one.ops.back().code != Opcode::yield) return std::nullopt;
    const Op& yield = one.ops.back();
    const Op& other_yield = other.ops.back();
    if (yield.operands.size() != other_yield.operands.size())
      return as_they_are(yield, other_yield);
    const auto values = differing(yield, other_yield);
    if (!values) return std::nullopt;
    return of_values(*values);
  }

  using Values = std::pair<ValueId, ValueId>;

  // The first pair of operands that are not the same; nullopt where all are.
  [[nodiscard]] std::optional<Values> differing(const Op& one, const Op& other) const {
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
      const Values pair{one.operands[i], other.operands[i]};
      if (wanted_.hash(pair.first) != found_.hash(pair.second)) return pair;
    }
    return std::nullopt;
  }

  // What made them, where that is an operation in both and not the same one.
  [[nodiscard]] std::pair<const Op*, const Op*> makers(const Values& values) const {
    const Op* one = wanted_.maker(values.first);
    const Op* other = found_.maker(values.second);
    if (one == nullptr || other == nullptr || wanted_.hash(*one) == found_.hash(*other)) return {};
    return {one, other};
  }

  [[nodiscard]] Difference of_values(const Values& values) const {
    const auto [one, other] = makers(values);
    if (one != nullptr) return of_ops(one, other);
    return {wanted_.text(values.first), found_.text(values.second)};
  }

  // Up the operands in a loop, for a flow of data may be long; into regions by recursion, which
  // max_nesting bounds.
  [[nodiscard]] Difference of_ops(const Op* one, const Op* other) const {
    while (same_by_itself(*one, *other)) {
      const auto values = differing(*one, *other);
      if (!values) return of_regions(*one, *other);
      const auto next = makers(*values);
      if (next.first == nullptr) return of_values(*values);
      std::tie(one, other) = next;
    }
    return as_they_are(*one, *other);
  }

  [[nodiscard]] Difference of_regions(const Op& one, const Op& other) const {
    for (std::size_t i = 0; i < one.regions.size(); ++i) {
      if (auto difference = of_arguments(one.regions[i], other.regions[i])) return *difference;
      if (auto difference = of_blocks(one.regions[i], other.regions[i])) return *difference;
    }
    // Only the memory they see is another: one of them stands before or after a write, or a region.
    Difference difference = as_they_are(one, other);
    difference.wanted += " (in another place among the writes)";
    return difference;
  }

  [[nodiscard]] bool same_by_itself(const Op& one, const Op& other) const {
    if (one.code != other.code || one.bits != other.bits || one.index != other.index ||
        one.dims != other.dims || one.predicate != other.predicate || one.cache != other.cache ||
        one.precision != other.precision || one.operands.size() != other.operands.size() ||
        one.results.size() != other.results.size() || one.regions.size() != other.regions.size()) {
      return false;
    }
    for (std::size_t i = 0; i < one.results.size(); ++i) {
      if (!(wanted_.type(one.results[i]) == found_.type(other.results[i]))) return false;
    }
    return true;
  }

  [[nodiscard]] Difference as_they_are(const Op& one, const Op& other) const {
    return {wanted_.text(one), found_.text(other)};
  }

  Side wanted_;
  Side found_;
};

}  // namespace

std::optional<Difference> first_difference(const Kernel& wanted, const Kernel& found) {
  return Comparison(wanted, found).run();
}

}  // namespace teeny::ir
