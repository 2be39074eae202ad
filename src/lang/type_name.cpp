// The identifier of a type from its mangled name (Itanium C++ ABI), so that g++ and clang programs
// agree on kernel names whatever their demanglers print.

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <cxxabi.h>

#include "teeny/lang/launchable.hpp"

namespace teeny::lang {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Walks a mangled type. Only what nests and what must be stepped over is understood: names,
/// template arguments, literals, substitutions, local names, closures.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  /// False when the text is not understood to its end.
  bool run() {
    while (at_ < text_.size()) {
      if (!step()) return false;
    }
    return open_.empty();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool nameable() const { return nameable_; }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  /// Whether identifiers here belong to the type itself rather than to arguments or functions.
  [[nodiscard]] bool own_level() const { return open_.find_first_not_of('N') == std::string::npos; }
  bool skip_through(char end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + 1;
    return true;
  }

  void closure() {
    nameable_ = false;
    if (own_level()) name_ = "lambda";
  }

  bool identifier() {
    std::size_t length = 0;
    while (is_digit(peek())) {
      length = length * 10 + static_cast<std::size_t>(peek() - '0');
      if (length > text_.size()) return false;
      ++at_;
    }
    if (length == 0 || at_ + length > text_.size()) return false;
    const std::string_view word = text_.substr(at_, length);
    at_ += length;
    if (word.substr(0, 11) == "_GLOBAL__N_") {
      nameable_ = false;
    } else if (word.substr(0, 2) == "$_") {  // what clang calls a closure that has no linkage
      closure();
    } else if (own_level()) {
      name_ = word;
    }
    return true;
  }

  // L <type> <value> E among template arguments; elsewhere the L of an internal name.
  bool literal() {
    ++at_;
    if (open_.empty() || (open_.back() != 'I' && open_.back() != 'J' && open_.back() != 'X')) {
      return true;
    }
    if (peek() == '_' && peek(1) == 'Z') {
      at_ += 2;
      open_.push_back('L');
      return true;
    }
    if (is_digit(peek())) {
      if (!identifier()) return false;  // an enumeration
    } else if (peek() == 'N') {
      const std::size_t depth = open_.size();
      open_.push_back('N');
      ++at_;
      while (open_.size() > depth) {
        if (at_ >= text_.size() || !step()) return false;
      }
    } else if (peek() == 'S' && peek(1) != 't') {
      return skip_through('_') && skip_through('E');
    }
    return skip_through('E');
  }

  bool step() {
    const char c = peek();
    if (is_digit(c)) return identifier();
    switch (c) {
      case 'L':
        return literal();
      case 'N':
      case 'I':
      case 'J':
      case 'X':
      case 'Z':
      case 'F':
        open_.push_back(c);
        ++at_;
        return true;
      case 'E': {
        if (open_.empty()) return false;
        const bool local = open_.back() == 'Z';
        open_.pop_back();
        ++at_;
        if (local && peek() == 's' && (peek(1) == '\0' || peek(1) == '_')) return false;
        return true;
      }
      case 'S':
        ++at_;
        if (std::string_view("tabsiod").find(peek()) != std::string_view::npos) {
          ++at_;
          return true;
        }
        return skip_through('_');
      case 'T':
        return skip_through('_');
      case 'U':
        if (peek(1) == 'l' || peek(1) == 't') {
          closure();
          const bool has_parameters = peek(1) == 'l';
          at_ += 2;
          if (!has_parameters) return skip_through('_');
          open_.push_back('U');  // its parameter types, up to E
          const std::size_t depth = open_.size();
          while (open_.size() >= depth) {
            if (at_ >= text_.size() || !step()) return false;
          }
          return skip_through('_');
        }
        ++at_;
        return true;
      case 'A':
        return skip_through('_');
      case 'D':
        if (peek(1) == 'T' || peek(1) == 't') open_.push_back('X');
        at_ += 2;
        return true;
      case 'B': {  // an ABI tag is no name
        ++at_;
        const std::string kept = name_;
        if (!identifier()) return false;
        name_ = kept;
        return true;
      }
      case '_':  // the discriminator of a local type
        ++at_;
        if (peek() == '_') return ++at_, skip_through('_');
        while (is_digit(peek())) ++at_;
        return true;
      default:  // builtin types, qualifiers
        ++at_;
        return true;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string open_;  // what is open, outermost first
  std::string name_;
  bool nameable_ = true;
};

std::string demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : mangled;
}

/// Only [A-Za-z0-9_], not beginning with a digit: other bytes (UTF-8 in identifiers) become '_'.
std::string as_identifier(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
    result += plain ? c : '_';
  }
  if (result.empty() || is_digit(result.front())) result.insert(result.begin(), '_');
  return result;
}

}  // namespace

TypeName parse_type_name(const char* mangled) {
  if (*mangled == '*') ++mangled;  // g++ marks names that are unique by address
  Walk walk(mangled);
  TypeName result;
  result.readable = demangle(mangled);
  if (walk.run() && !walk.name().empty()) {
    result.name = as_identifier(walk.name());
    result.nameable = walk.nameable();
  } else {
    // Not understood: a kernel like any other, but one found by its fingerprint.
    result.name = "kernel";
    result.nameable = false;
  }
  return result;
}

}  // namespace teeny::lang
