#include "tool/transport/words.hpp"

#include "teeny/base/error.hpp"

namespace teeny::tool {

std::vector<std::string> split_words(std::string_view option, std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    throw Error(ErrorKind::usage,
                std::string(option) + ": a " + quote + " is not closed in " + std::string(text),
                "close it, or put a backslash before it");
  }
  if (in_word) words.push_back(std::move(word));
  if (words.empty() || words.front().empty()) {
    throw Error(ErrorKind::usage, std::string(option) + " names no program",
                "for instance " + std::string(option) + " \"ssh -p 2222\"");
  }
  return words;
}

std::string quote_for_shell(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const auto& word : words) {
    if (!command.empty()) command += ' ';
    command += quote_for_shell(word);
  }
  return command;
}

std::string rsync_shell(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_of(" \t'\"") == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) {
      text += c;
      if (c == '\'') text += c;
    }
    text += '\'';
  }
  return text;
}

}  // namespace teeny::tool
