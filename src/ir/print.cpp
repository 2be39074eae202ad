#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/lines.hpp"
#include "ir/rules.hpp"

#include "teeny/ir/text.hpp"

namespace teeny::ir {

namespace {

/// What the bits of an element mean, for the reader. Told from the bits alone, for under
/// -ffast-math the compiler may assume that there are no infinities, NaNs and negative zeros.
std::string meaning(DType dtype, std::uint64_t bits) {
  if (dtype == DType::boolean) return bits != 0 ? "true" : "false";
  const int width = bits_of(dtype);
  if (is_unsigned_int(dtype)) return std::to_string(bits);
  const bool negative = ((bits >> (width - 1)) & 1U) != 0;
  if (is_signed_int(dtype)) {
    const std::uint64_t extension = negative && width < 64 ? ~std::uint64_t{0} << width : 0;
    return std::to_string(static_cast<std::int64_t>(bits | extension));
  }
  const int mantissa = dtype == DType::f16    ? 10
                       : dtype == DType::bf16 ? 7
                       : dtype == DType::f32  ? 23
                                              : 52;
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << (width - 1));
  const std::uint64_t infinity = ((std::uint64_t{1} << (width - 1 - mantissa)) - 1) << mantissa;
  const std::string sign = negative ? "-" : "";
  if (magnitude > infinity) return "nan";
  if (magnitude == infinity) return sign + "inf";
  if (magnitude == 0) return sign + "0.0";
  const double value = decode(dtype, magnitude);
  return sign + (dtype == DType::f64 ? fmt::format("{}", value)
                                     : fmt::format("{}", static_cast<float>(value)));
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel)
      : kernel_(kernel), numbers_(kernel.values.size(), no_value) {}

  /// Where each operation begins in the text, for one who asked.
  using Starts = std::unordered_map<const Op*, std::size_t>;

  std::string run(Starts* starts = nullptr) {
    starts_ = starts;
    text_ = "teeny-ir " + std::to_string(ir_version) + "\nkernel " + kernel_.name + "(";
    arguments(kernel_.body);
    const KernelOptions& options = kernel_.options;
    text_ += ") num_warps=" + std::to_string(options.num_warps) +
             " num_stages=" + std::to_string(options.num_stages) +
             " max_registers=" + std::to_string(options.max_registers) + " {\n";
    block(kernel_.body, 1);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  void define(ValueId id) { numbers_.at(id) = next_++; }
  void value(ValueId id) { text_.append("%").append(std::to_string(numbers_.at(id))); }

  void list(const std::vector<ValueId>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i != 0) text_ += ", ";
      value(ids[i]);
    }
  }

  void arguments(const Block& block) {
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      if (i != 0) text_ += ", ";
      define(block.arguments[i]);
      value(block.arguments[i]);
      text_ += ": " + to_string(kernel_.type(block.arguments[i]));
    }
  }

  void block(const Block& block, std::size_t depth) {
    for (const Op& op : block.ops) operation(op, depth);
  }

  void operation(const Op& op, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    text_ += indent;
    if (starts_ != nullptr) starts_->emplace(&op, text_.size());
    for (const ValueId id : op.results) define(id);
    if (!op.results.empty()) {
      list(op.results);
      text_ += " = ";
    }
    text_ += name(op.code);
    if (!op.operands.empty()) text_ += ' ';
    list(op.operands);
    attributes(op);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      text_ += (i == 0 ? " : " : ", ") + to_string(kernel_.type(op.results[i]));
    }
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const Block& region = op.regions[i];
      text_ += i == 0 ? " " : " else ";
      if (!region.arguments.empty()) {
        text_ += '(';
        arguments(region);
        text_ += ") ";
      }
      text_ += "{\n";
      block(region, depth + 1);
      text_ += indent + "}";
    }
    if (op.code == Opcode::constant)
      text_ += "  # " + meaning(kernel_.type(op.results.at(0)).dtype, op.bits);
    text_ += '\n';
  }

  void attributes(const Op& op) {
    const unsigned has = rules(op.code).attributes;
    if ((has & attribute_predicate) != 0) text_.append(" predicate=").append(name(op.predicate));
    if ((has & attribute_index) != 0) text_ += " index=" + std::to_string(op.index);
    if ((has & attribute_dims) != 0) {
      text_ += " dims=[";
      for (std::size_t i = 0; i < op.dims.size(); ++i) {
        if (i != 0) text_ += ", ";
        text_ += std::to_string(op.dims[i]);
      }
      text_ += ']';
    }
    if ((has & attribute_bits) != 0) text_ += fmt::format(" bits={:#x}", op.bits);
    if (op.cache != Cache::automatic) text_.append(" cache=").append(name(op.cache));
    if (op.precision != Precision::ieee) text_.append(" precision=").append(name(op.precision));
  }

  const Kernel& kernel_;
  std::vector<ValueId> numbers_;
  ValueId next_ = 0;
  std::string text_;
  Starts* starts_ = nullptr;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

std::unordered_map<const Op*, Line> operation_lines(const Kernel& kernel) {
  Printer::Starts starts;
  const std::string text = Printer(kernel).run(&starts);
  std::vector<std::pair<std::size_t, const Op*>> in_order;
  for (const auto& [op, start] : starts) in_order.emplace_back(start, op);
  std::sort(in_order.begin(), in_order.end());
  std::unordered_map<const Op*, Line> lines;
  int number = 1;
  std::size_t counted = 0;
  for (const auto& [start, op] : in_order) {
    for (; counted < start; ++counted) number += text[counted] == '\n' ? 1 : 0;
    std::string line = text.substr(start, text.find('\n', start) - start);
    if (line.size() > 2 && line.compare(line.size() - 2, 2, " {") == 0)
      line.resize(line.size() - 2);
    lines.emplace(op, Line{number, std::move(line)});
  }
  return lines;
}

}  // namespace teeny::ir
