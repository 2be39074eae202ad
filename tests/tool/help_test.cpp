#include <functional>
#include <set>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "tool/app.hpp"

using namespace teeny::tool;

namespace {

// Every command below `app`, with the words that name it.
void for_each_command(const CLI::App& app, const std::string& words,
                      const std::function<void(const CLI::App&, const std::string&)>& act) {
  for (const auto* command : app.get_subcommands(nullptr)) {
    const std::string name = words + " " + command->get_name();
    act(*command, name);
    for_each_command(*command, name, act);
  }
}

void expect_described(const CLI::App& command, const std::string& words) {
  for (const auto* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden: it is there to be refused
    EXPECT_GT(option->get_description().size(), 3U) << words << " " << option->get_name();
  }
}

}  // namespace

TEST(Help, EveryCommandHasAnExampleAndEveryFlagADescription) {
  Session session;
  const auto app = make_command_line(session);
  std::set<std::string> seen;
  expect_described(*app, "teeny");
  for_each_command(*app, "teeny", [&](const CLI::App& command, const std::string& words) {
    seen.insert(words);
    EXPECT_FALSE(command.get_description().empty()) << words;
    EXPECT_NE(command.get_footer().find("Example:\n  " + words), std::string::npos)
        << words << " has no example:\n"
        << command.get_footer();
    expect_described(command, words);
  });
  for (const char* words : {"teeny package", "teeny inspect", "teeny boards probe"}) {
    EXPECT_EQ(seen.count(words), 1U) << words;
  }
}

// What a reader takes from a help text works: its flags are flags of that command.
TEST(Help, TheExamplesUseTheFlagsThatThereAre) {
  Session session;
  const auto app = make_command_line(session);
  for_each_command(*app, "teeny", [&](const CLI::App& command, const std::string& words) {
    std::string text = command.get_footer();
    text = text.substr(text.find("Example:"));
    const auto own_words = text.find(" -- ");
    if (own_words != std::string::npos) text = text.substr(0, own_words);
    for (auto at = text.find(" --"); at != std::string::npos; at = text.find(" --", at + 1)) {
      const std::string flag = text.substr(at + 1, text.find_first_of(" \n=", at + 1) - at - 1);
      EXPECT_NE(command.get_option_no_throw(flag), nullptr) << words << " has no " << flag;
    }
  });
}
