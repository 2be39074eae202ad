#include "tool/completions/completions.hpp"

#include <set>

#include <CLI/CLI.hpp>

#include "tool/project/project.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// What stands before and behind the two tables that are made from the command line. A word is split
// at = and @ by readline, so that a value may be the word behind a lone "=".
constexpr const char* script_begin =
    R"sh(# bash completion for teeny, made by `teeny completions bash`

_teeny_boards() {
  local name rest
  while read -r name rest; do printf '%s\n' "$name"; done < <("$1" boards 2> /dev/null)
}

_teeny_hosts() {
  local word rest name
  [[ -r ~/.ssh/config ]] || return 0
  while read -r word rest; do
    [[ ${word,,} == host ]] || continue
    for name in $rest; do [[ $name == *[*?!]* ]] || printf '%s\n' "$name"; done
  done < ~/.ssh/config
}

_teeny_values() { # KIND PROGRAM CURRENT
  case $1 in
    BOARD)
      mapfile -t COMPREPLY < <(compgen -W "$(_teeny_boards "$2")" -- "$3")
      ((${#COMPREPLY[@]})) || _teeny_values FILE "$2" "$3"
      ;;
    HOST) mapfile -t COMPREPLY < <(compgen -W "$(_teeny_hosts)" -- "$3") ;;
    N) mapfile -t COMPREPLY < <(compgen -W "$("$2" completions --programs 2> /dev/null)" -- "$3") ;;
    DIR)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$3")
      ;;
    FILE)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$3")
      ;;
    "{"*) mapfile -t COMPREPLY < <(compgen -W "${1//[\{\},]/ }" -- "$3") ;;
  esac
}

_teeny() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local path= word i commands flags kind
  local -A subcommands=() options=() kinds=()
)sh";

constexpr const char* script_end = R"sh(
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    # What is behind a lone -- is for another program.
    if [[ $word == -- ]]; then
      _teeny_values FILE "$program" "$current"
      return 0
    fi
    [[ " ${subcommands[$path/]} " == *" $word "* ]] && path+=/$word
  done
  kind=${kinds[$path/ $previous]}
  if [[ -n $kind ]]; then
    _teeny_values "$kind" "$program" "$current"
    return 0
  fi
  commands=${subcommands[$path/]}
  flags=${options[$path/]}
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
    return 0
  fi
  kind=${kinds[$path/ ]}
  [[ -n $kind ]] && _teeny_values "$kind" "$program" "$current"
  [[ -n $commands ]] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$commands" -- "$current")
  return 0
}

complete -F _teeny teeny
)sh";

// How the values of a flag are found: the name of its type, fixed choices as {a,b}; empty for a
// flag without a value and for a type that nothing is known of.
std::string kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const auto choices = type.find('{');
  if (choices != std::string::npos) return type.substr(choices, type.find('}') + 1 - choices);
  static const std::set<std::string> known = {"BOARD", "HOST", "N", "DIR", "FILE"};
  return known.count(type) != 0 ? type : "";
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// One word for bash; no name of a command, flag or choice has a quote.
std::string entry(const std::string& table, const std::string& key, const std::string& value) {
  return "  " + table + "['" + key + "']='" + value + "'\n";
}

void describe(const CLI::App& app, const std::string& path, std::string& script) {
  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands(nullptr)) {
    if (command->get_group().empty()) continue;
    commands.push_back(command->get_name());
  }
  if (!commands.empty()) script += entry("subcommands", path + "/", join(commands, " "));
  std::vector<std::string> flags;
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string kind = kind_of(*option);
    if (option->get_positional()) {
      if (!kind.empty()) script += entry("kinds", path + "/ ", kind);
      continue;
    }
    for (const auto& name : names_of(*option)) {
      flags.push_back(name);
      if (!kind.empty()) script += entry("kinds", path + "/ " + name, kind);
    }
  }
  script += entry("options", path + "/", join(flags, " "));
  for (const auto* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) describe(*command, path + "/" + command->get_name(), script);
  }
}

}  // namespace

std::string bash_completions(const CLI::App& app) {
  std::string script = script_begin;
  describe(app, "", script);
  return script + script_end;
}

std::vector<std::string> known_programs(const fs::path& from) {
  std::set<std::string> names;
  const fs::path builds = find_project_root(from) / "build" / "teeny";
  std::error_code none;
  for (fs::directory_iterator entry(builds, none), end; !none && entry != end;
       entry.increment(none)) {
    const auto codemodel = read_file_api_reply(entry->path());
    if (!codemodel) continue;
    for (const auto& target : codemodel->targets) {
      if (target.is_executable()) names.insert(target.name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace teeny::tool
