#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace teeny::ir {

/// Where a token or operation stands in a text, both counted from 1; columns are bytes.
struct Location {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// One token of the text form of the IR.
struct Token {
  enum class Kind { word, number, value, mark, newline, end };
  Kind kind = Kind::end;
  std::string_view text = {};  ///< value: the digits behind the %; mark: one character
  Location location = {};
};

/// Cuts the text form of the IR into tokens, one at a time. Blank lines and comments (# to the end
/// of a line) vanish; Error(input) with line and column at a character that begins no token.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  /// The token that comes next.
  [[nodiscard]] const Token& peek() const noexcept { return token_; }
  Token take();

 private:
  void advance();
  void skip_blanks() noexcept;
  [[nodiscard]] char current() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  Token token_;
};

/// Error(input) "IR text, line L, column C: ...".
[[noreturn]] void fail_at(Location location, const std::string& message);
/// "'add'", "the end of the line", "the end of the text".
[[nodiscard]] std::string describe(const Token& token);

}  // namespace teeny::ir
