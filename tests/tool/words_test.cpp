#include "tool/transport/words.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/base/process.hpp"

using namespace teeny;
using namespace teeny::tool;

namespace {
using Words = std::vector<std::string>;

const Words awkward = {
    "plain", "two words", "it's", "\"quoted\"",  "$HOME", "`id`", "a\\b",     "*",  "~",   "",
    "é",     "-n",        "a;b",  "line\nbreak", "'",     "''",   "\xff\xfe", "!x", "a  b"};
}  // namespace

TEST(Words, SplitsAsOneTypes) {
  EXPECT_EQ(split_words("--ssh", "ssh"), (Words{"ssh"}));
  EXPECT_EQ(split_words("--ssh", "  ssh  -p\t2222 "), (Words{"ssh", "-p", "2222"}));
  EXPECT_EQ(split_words("--ssh", "ssh -F 'my config' -o \"A=b c\""),
            (Words{"ssh", "-F", "my config", "-o", "A=b c"}));
  EXPECT_EQ(split_words("--ssh", "ssh -F my\\ config"), (Words{"ssh", "-F", "my config"}));
  EXPECT_EQ(split_words("--ssh", "ssh -F \"it's \\\"so\\\"\""),
            (Words{"ssh", "-F", "it's \"so\""}));
  EXPECT_EQ(split_words("--ssh", "ssh $HOME *"), (Words{"ssh", "$HOME", "*"}));
  EXPECT_EQ(split_words("--ssh", "ssh ''"), (Words{"ssh", ""}));
}

TEST(Words, RefusesOpenQuotesAndNothing) {
  for (const char* text : {"", "   ", "''", "ssh 'x", "ssh \"x"}) {
    try {
      static_cast<void>(split_words("--ssh", text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      EXPECT_NE(error.message().find("--ssh"), std::string::npos);
    }
  }
}

// P40: whatever bytes a word holds, the shell on the far side sees that word.
TEST(Pains, P40_QuotingSurvivesAShell) {
  Words command = {"printf", "[%s]"};
  std::string expected;
  for (const auto& word : awkward) {
    command.push_back(word);
    expected += "[" + word + "]";
  }
  const auto result = run({{"/bin/sh", "-c", shell_command(command)}});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.output, expected);
}

// The rules of rsync's own splitter, written down again here as its reader.
Words as_rsync_reads(const std::string& text) {
  Words words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c != quote) {
        word += c;
      } else if (i + 1 < text.size() && text[i + 1] == quote) {
        word += quote;
        ++i;
      } else {
        quote = 0;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

TEST(Pains, P40_QuotingSurvivesRsync) {
  const Words words = {"ssh", "-F", "/tmp/it's a \"config\" $é", "-o", "A=b", "''", "tab\there"};
  EXPECT_EQ(as_rsync_reads(rsync_shell(words)), words);
}
