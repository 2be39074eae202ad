#include "ir/lexer.hpp"

#include "teeny/base/error.hpp"

namespace teeny::ir {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string describe_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) return std::string("'") + c + "'";
  constexpr char digits[] = "0123456789abcdef";
  return std::string("the byte 0x") + digits[byte >> 4U] + digits[byte & 15U];
}

}  // namespace

void fail_at(Location location, const std::string& message) {
  throw Error(ErrorKind::input, "IR text, line " + std::to_string(location.line) + ", column " +
                                    std::to_string(location.column) + ": " + message);
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::newline:
      return "the end of the line";
    case Token::Kind::end:
      return "the end of the text";
    default:
      break;
  }
  constexpr std::size_t longest = 40;
  std::string text = token.kind == Token::Kind::value ? "'%" : "'";
  text += token.text.substr(0, longest);
  return text + (token.text.size() > longest ? "...'" : "'");
}

Token Lexer::take() {
  const Token token = token_;
  advance();
  return token;
}

void Lexer::skip_blanks() noexcept {
  while (current() == ' ') ++at_;
  if (current() != '#') return;
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

void Lexer::advance() {
  const bool at_line_start = token_.kind == Token::Kind::newline || at_ == 0;
  skip_blanks();
  // Lines that hold nothing are not worth a token.
  while (at_line_start && current() == '\n') {
    ++at_;
    ++line_;
    line_start_ = at_;
    skip_blanks();
  }
  token_ = Token{Token::Kind::end, {}, {line_, at_ - line_start_ + 1}};
  if (at_ >= text_.size()) return;

  const std::size_t start = at_;
  const char c = text_[at_++];
  if (c == '\n') {
    token_.kind = Token::Kind::newline;
    ++line_;
    line_start_ = at_;
  } else if (c == '%') {
    token_.kind = Token::Kind::value;
    while (is_digit(current())) ++at_;
    token_.text = text_.substr(start + 1, at_ - start - 1);
    if (token_.text.empty()) fail_at(token_.location, "wanted a number behind '%'");
  } else if (is_digit(c) || c == '-') {
    token_.kind = Token::Kind::number;
    while (is_word(current())) ++at_;  // a hexadecimal number's letters, and an extents' x
    token_.text = text_.substr(start, at_ - start);
  } else if (is_word(c)) {
    token_.kind = Token::Kind::word;
    while (is_word(current()) || current() == '-') ++at_;
    token_.text = text_.substr(start, at_ - start);
  } else if (std::string_view("(){}[]<>:,=").find(c) != std::string_view::npos) {
    token_.kind = Token::Kind::mark;
    token_.text = text_.substr(start, 1);
  } else {
    fail_at(token_.location, describe_byte(c) + " is not part of the language");
  }
}

}  // namespace teeny::ir
