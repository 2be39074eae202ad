#pragma once

// PTX text, as LLVM writes it, read into a list of instructions. What is not known is an error.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::compiler::testing {

/// The type suffix of an instruction: "u32", "f16", "pred".
struct PtxType {
  char kind = 'b';  ///< b, u, s, f, 'n' for bf16, 'p' for pred
  int bits = 32;
  [[nodiscard]] bool is_float() const { return kind == 'f' || kind == 'n'; }
  [[nodiscard]] bool is_signed() const { return kind == 's'; }
  [[nodiscard]] int bytes() const { return bits < 8 ? 1 : bits / 8; }

  static std::optional<PtxType> parse(std::string_view text) {
    if (text == "pred") return PtxType{'p', 1};
    if (text == "bf16") return PtxType{'n', 16};
    if (text.size() < 2 || std::string_view("busf").find(text[0]) == std::string_view::npos) {
      return std::nullopt;
    }
    const int bits = std::atoi(std::string(text.substr(1)).c_str());
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
    return PtxType{text[0], bits};
  }
};

struct PtxOperand {
  enum class Kind { reg, immediate, special, shared, parameter };
  Kind kind = Kind::immediate;
  std::size_t index = 0;    ///< register, or parameter
  std::uint64_t value = 0;  ///< immediate; offset of an address
  std::string name = {};    ///< special register
};

struct PtxInstruction {
  std::string text;
  std::string op;                      ///< first word of the mnemonic
  std::vector<std::string> modifiers;  ///< the others, types left out
  std::vector<PtxType> types;
  std::vector<std::vector<PtxOperand>> operands;  ///< several in one: {a, b}
  std::optional<std::size_t> predicate;
  bool negated = false;
  std::size_t target = 0;  ///< of a branch

  [[nodiscard]] bool has(std::string_view modifier) const {
    for (const auto& one : modifiers) {
      if (one == modifier) return true;
    }
    return false;
  }
};

/// One kernel.
class PtxProgram {
 public:
  explicit PtxProgram(const std::string& text) { parse(text); }

  std::string name;
  int threads = 0;
  std::vector<PtxType> parameters;
  std::vector<PtxInstruction> instructions;
  std::size_t registers = 0;

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw std::runtime_error("PTX: " + what);
  }

  static std::string trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return "";
    return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
  }

  static std::string without_comments(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "//") == 0) i = text.find('\n', i);
      if (i == std::string::npos) break;
      result += text[i];
    }
    return result;
  }

  void parse(const std::string& whole) {
    const std::string text = without_comments(whole);
    const std::size_t entry = text.find(".entry ");
    if (entry == std::string::npos) fail("no entry");
    const std::size_t open = text.find('(', entry);
    const std::size_t close = text.find(')', open);
    name = trimmed(text.substr(entry + 7, open - entry - 7));
    for (const std::string& one : split(text.substr(open + 1, close - open - 1), ',')) {
      if (one.empty()) continue;
      const std::size_t dot = one.rfind('.', one.rfind(' '));
      const auto type = PtxType::parse(one.substr(dot + 1, one.find(' ', dot) - dot - 1));
      if (!type) fail("parameter " + one);
      parameters.push_back(*type);
    }
    const std::size_t bound = text.find(".reqntid ", close);
    if (bound == std::string::npos) fail("no .reqntid");
    threads = std::atoi(text.c_str() + bound + 9);
    std::size_t at = text.find('{', bound) + 1;
    const std::size_t end = text.rfind('}');
    std::string statement;
    int depth = 0;
    for (; at < end; ++at) {
      const char c = text[at];
      if (c == ':' && trimmed(statement).front() == '$') {
        labels_[trimmed(statement)] = instructions.size();
        statement.clear();
      } else if ((c == '{' || c == '}') && trimmed(statement).empty() && depth == 0) {
        statement.clear();  // a scope of its own registers
      } else if (c == ';' && depth == 0) {
        add(trimmed(statement));
        statement.clear();
      } else {
        if (c == '{') ++depth;
        if (c == '}') --depth;
        statement += c;
      }
    }
    for (PtxInstruction& instruction : instructions) {
      if (instruction.op != "bra") continue;
      const std::string label = instruction.text.substr(instruction.text.find_last_of(" \t") + 1);
      const auto found = labels_.find(label);
      if (found == labels_.end()) fail("no label " + label);
      instruction.target = found->second;
    }
  }

  static std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (const char c : text) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == separator && depth == 0) {
        parts.push_back(trimmed(part));
        part.clear();
      } else {
        part += c;
      }
    }
    parts.push_back(trimmed(part));
    return parts;
  }

  void add(const std::string& text) {
    if (text.empty() || text[0] == '.') return;  // declarations, pragmas
    PtxInstruction instruction;
    instruction.text = text;
    std::string rest = text;
    if (rest[0] == '@') {
      instruction.negated = rest[1] == '!';
      const std::size_t space = rest.find_first_of(" \t");
      const std::string reg =
          rest.substr(instruction.negated ? 2 : 1, space - (instruction.negated ? 2 : 1));
      instruction.predicate = register_of(reg);
      rest = trimmed(rest.substr(space));
    }
    const std::size_t space = rest.find_first_of(" \t");
    const auto words = split(rest.substr(0, space), '.');
    instruction.op = words[0];
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (const auto type = PtxType::parse(words[i])) {
        instruction.types.push_back(*type);
      } else {
        instruction.modifiers.push_back(words[i]);
      }
    }
    if (space != std::string::npos && instruction.op != "bra") {
      for (const std::string& operand : split(trimmed(rest.substr(space)), ',')) {
        instruction.operands.push_back(operands_of(operand));
      }
    }
    instructions.push_back(std::move(instruction));
  }

  std::vector<PtxOperand> operands_of(std::string text) {
    std::vector<PtxOperand> list;
    if (text[0] == '{') {
      for (const std::string& one : split(text.substr(1, text.size() - 2), ',')) {
        list.push_back(operand_of(one));
      }
      return list;
    }
    if (text[0] == '[') {
      text = text.substr(1, text.size() - 2);
      const std::size_t plus = text.find('+');
      PtxOperand operand = operand_of(text.substr(0, plus));
      if (plus != std::string::npos) {
        operand.value +=
            static_cast<std::uint64_t>(std::strtoll(text.c_str() + plus + 1, nullptr, 0));
      }
      return {operand};
    }
    return {operand_of(text)};
  }

  PtxOperand operand_of(const std::string& text) {
    using Kind = PtxOperand::Kind;
    if (text[0] == '%' && (text.rfind("%tid", 0) == 0 || text.rfind("%ctaid", 0) == 0 ||
                           text.rfind("%nctaid", 0) == 0)) {
      return {Kind::special, 0, 0, text};
    }
    if (text[0] == '%' || text == "tmp") return {Kind::reg, register_of(text), 0, {}};
    const std::string parameter = name + "_param_";
    if (text.rfind(parameter, 0) == 0) {
      return {Kind::parameter,
              static_cast<std::size_t>(std::atoi(text.c_str() + parameter.size())),
              0,
              {}};
    }
    if (text == name + "_shared") return {Kind::shared, 0, 0, {}};
    if (text.rfind("0f", 0) == 0 || text.rfind("0d", 0) == 0) {
      return {Kind::immediate, 0, std::strtoull(text.c_str() + 2, nullptr, 16), {}};
    }
    char* end = nullptr;
    const std::uint64_t value =
        text[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), &end, 0))
                       : std::strtoull(text.c_str(), &end, 0);
    if (end == text.c_str() || *end != 0) fail("operand " + text);
    return {Kind::immediate, 0, value, {}};
  }

  std::size_t register_of(const std::string& text) {
    const auto [place, added] = numbers_.emplace(text, registers);
    if (added) ++registers;
    return place->second;
  }

  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, std::size_t> labels_;
};

}  // namespace teeny::compiler::testing
