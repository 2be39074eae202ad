#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/lexer.hpp"
#include "ir/rules.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::ir {

namespace {

/// A number of the text: decimal, or hexadecimal after "0x"; without sign.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.substr(0, 2) != "0x") return parse_unsigned(text);
  text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4U | digit;
  }
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Kernel run() {
    version_line();
    header();
    block(kernel_.body, 0);
    newline();
    if (peek().kind != Token::Kind::end) unexpected("nothing more");
    std::size_t position = 0;
    try {
      verify_counting(kernel_, &position);
    } catch (const Error& error) {
      fail_at(locations_[position], error.message());
    }
    return std::move(kernel_);
  }

 private:
  using Kind = Token::Kind;

  // --- tokens ---

  [[nodiscard]] const Token& peek() const { return lexer_.peek(); }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    fail_at(peek().location, "wanted " + wanted + ", found " + describe(peek()));
  }
  [[nodiscard]] bool at_mark(char c) const {
    return peek().kind == Kind::mark && peek().text[0] == c;
  }
  bool take_mark(char c) {
    if (!at_mark(c)) return false;
    lexer_.take();
    return true;
  }
  void mark(char c) {
    if (!take_mark(c)) unexpected(std::string("'") + c + "'");
  }
  void newline() {
    if (peek().kind != Kind::newline) unexpected("the end of the line");
    lexer_.take();
  }
  std::string_view word(const std::string& wanted) {
    if (peek().kind != Kind::word) unexpected(wanted);
    return lexer_.take().text;
  }
  void keyword(std::string_view wanted) {
    if (peek().kind != Kind::word || peek().text != wanted)
      unexpected(std::string("'").append(wanted).append("'"));
    lexer_.take();
  }

  std::uint64_t unsigned_number() {
    const auto value = peek().kind == Kind::number ? parse_number(peek().text) : std::nullopt;
    if (!value) unexpected("a number of at most 64 bits");
    lexer_.take();
    return *value;
  }

  std::int64_t signed_number(std::int64_t lowest, std::int64_t highest) {
    std::string_view text = peek().kind == Kind::number ? peek().text : std::string_view{};
    const bool negative = text.substr(0, 1) == "-";
    if (negative) text.remove_prefix(1);
    const auto magnitude = parse_unsigned(text);
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> value;
    if (magnitude && *magnitude <= largest) {
      value = static_cast<std::int64_t>(*magnitude) * (negative ? -1 : 1);
    } else if (magnitude && negative && *magnitude == largest + 1) {
      value = std::numeric_limits<std::int64_t>::min();
    }
    if (!value || *value < lowest || *value > highest) {
      unexpected("a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
    }
    lexer_.take();
    return *value;
  }
  int small_number() {
    return static_cast<int>(
        signed_number(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }

  // --- types and values ---

  DType dtype() {
    const auto found = peek().kind == Kind::word ? parse_dtype(peek().text) : std::nullopt;
    if (!found) unexpected("an element type");
    lexer_.take();
    return *found;
  }

  Type type() {
    Type result;
    if (peek().kind == Kind::word && peek().text == "ptr") {
      lexer_.take();
      mark('<');
      result.pointer = true;
      if (peek().kind == Kind::word && peek().text == "const") {
        lexer_.take();
        result.read_only = true;
      }
      result.dtype = dtype();
      mark('>');
    } else {
      result.dtype = dtype();
    }
    if (take_mark('[')) {
      if (peek().kind != Kind::number) unexpected("extents such as 64x32");
      for (const std::string& extent : split(peek().text, 'x')) {
        const auto value = parse_unsigned(extent);
        if (!value || *value > static_cast<std::uint64_t>(max_elements)) {
          unexpected("extents such as 64x32, of at most " + std::to_string(max_elements));
        }
        result.shape.push_back(static_cast<std::int64_t>(*value));
      }
      lexer_.take();
      mark(']');
    }
    return result;
  }

  [[nodiscard]] std::uint64_t value_number() const {
    const auto number = peek().kind == Kind::value ? parse_unsigned(peek().text) : std::nullopt;
    if (!number) unexpected("a value such as %0");
    return *number;
  }

  ValueId defined_value() {
    const auto id = static_cast<ValueId>(kernel_.values.size());
    if (!ids_.emplace(value_number(), id).second) {
      fail_at(peek().location, describe(peek()) + " is defined a second time");
    }
    kernel_.values.emplace_back();
    lexer_.take();
    return id;
  }

  ValueId used_value() {
    const auto found = ids_.find(value_number());
    if (found == ids_.end()) {
      fail_at(peek().location, describe(peek()) + " is used before it is defined");
    }
    lexer_.take();
    return found->second;
  }

  void arguments(Block& block) {
    do {
      block.arguments.push_back(defined_value());
      mark(':');
      kernel_.values[block.arguments.back()] = type();
    } while (take_mark(','));
  }

  // --- kernel ---

  void version_line() {
    keyword("teeny-ir");
    const Location location = peek().location;
    const std::uint64_t version = unsigned_number();
    if (version != static_cast<std::uint64_t>(ir_version)) {
      fail_at(location, "wanted version " + std::to_string(ir_version) + " of the IR text, found " +
                            std::to_string(version));
    }
    newline();
  }

  void header() {
    locations_.push_back(peek().location);
    keyword("kernel");
    kernel_.name = word("the kernel's name");
    mark('(');
    if (!take_mark(')')) {
      arguments(kernel_.body);
      mark(')');
    }
    option("num_warps", kernel_.options.num_warps);
    option("num_stages", kernel_.options.num_stages);
    option("max_registers", kernel_.options.max_registers);
  }

  void option(std::string_view name, int& value) {
    keyword(name);
    mark('=');
    value = small_number();
  }

  /// From the opening brace to the closing one.
  void block(Block& block, int depth) {
    if (depth > max_nesting) {
      fail_at(peek().location,
              "more than " + std::to_string(max_nesting) + " regions inside one another");
    }
    mark('{');
    newline();
    while (!at_mark('}')) {
      Op op;
      operation(op, depth);
      block.ops.push_back(std::move(op));
      newline();
    }
    mark('}');
  }

  void operation(Op& op, int depth) {
    locations_.push_back(peek().location);
    if (peek().kind == Kind::value) {
      do op.results.push_back(defined_value());
      while (take_mark(','));
      mark('=');
    }
    op.code = opcode();
    if (peek().kind == Kind::value) {
      // A value may not be its own operand; its number is known from here on, so it is refused as
      // an operand by the verifier, as one of any other value that is not defined yet.
      do op.operands.push_back(used_value());
      while (take_mark(','));
    }
    attributes(op);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      mark(i == 0 ? ':' : ',');
      kernel_.values[op.results[i]] = type();
    }
    for (std::size_t i = 0; i < rules(op.code).regions; ++i) {
      if (i != 0) keyword("else");
      op.regions.emplace_back();
      if (take_mark('(')) {
        arguments(op.regions.back());
        mark(')');
      }
      block(op.regions.back(), depth + 1);
    }
  }

  Opcode opcode() {
    static const std::unordered_map<std::string_view, Opcode> codes = [] {
      std::unordered_map<std::string_view, Opcode> map;
      for (const Opcode code : all_opcodes()) map.emplace(name(code), code);
      return map;
    }();
    const auto found = peek().kind == Kind::word ? codes.find(peek().text) : codes.end();
    if (found == codes.end()) unexpected("an operation");
    lexer_.take();
    return found->second;
  }

  // --- attributes ---

  void attributes(Op& op) {
    const unsigned has = rules(op.code).attributes;
    constexpr unsigned optional = attribute_cache | attribute_precision;
    unsigned seen = 0;
    while (peek().kind == Kind::word) {
      const Location location = peek().location;
      const std::string key(lexer_.take().text);
      mark('=');
      const unsigned bit = attribute(op, key);
      if ((bit & has) == 0) {
        fail_at(location, std::string(name(op.code)) + " has no attribute '" + key + "'");
      }
      if ((bit & seen) != 0) fail_at(location, "attribute '" + key + "' is given a second time");
      seen |= bit;
    }
    if ((has & ~optional & ~seen) != 0)
      unexpected("the attributes of " + std::string(name(op.code)));
  }

  /// Reads the value of one attribute into `op`; returns its bit, or 0 when the key is unknown.
  unsigned attribute(Op& op, const std::string& key) {
    if (key == "bits") {
      op.bits = unsigned_number();
      return attribute_bits;
    }
    if (key == "index") {
      op.index = signed_number(std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max());
      return attribute_index;
    }
    if (key == "dims") {
      mark('[');
      if (!take_mark(']')) {
        do op.dims.push_back(small_number());
        while (take_mark(','));
        mark(']');
      }
      return attribute_dims;
    }
    if (key == "predicate") {
      op.predicate = one_of(all_predicates(), "a predicate");
      return attribute_predicate;
    }
    if (key == "cache") {
      op.cache =
          one_of(std::vector{Cache::automatic, Cache::streaming}, "'automatic' or 'streaming'");
      return attribute_cache;
    }
    if (key == "precision") {
      op.precision = one_of(std::vector{Precision::ieee, Precision::tf32}, "'ieee' or 'tf32'");
      return attribute_precision;
    }
    return 0;
  }

  template <class T>
  T one_of(const std::vector<T>& choices, const std::string& wanted) {
    if (peek().kind == Kind::word) {
      for (const T choice : choices) {
        if (name(choice) == peek().text) {
          lexer_.take();
          return choice;
        }
      }
    }
    unexpected(wanted);
  }

  Lexer lexer_;
  Kernel kernel_;
  std::unordered_map<std::uint64_t, ValueId> ids_;
  std::vector<Location> locations_;  // of the kernel's line and of every operation, in text order
};

}  // namespace

Kernel parse(std::string_view text) { return Parser(text).run(); }

}  // namespace teeny::ir
