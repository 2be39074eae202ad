#include "tool/sysroot/remote_folders.hpp"

#include <algorithm>
#include <map>

#include "tool/package/elf_check.hpp"
#include "tool/preflight/l4t.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

namespace {

// For each argument the links on the way to it and what is at its end, from the root on; BusyBox is
// enough.
constexpr const char* walk_script = R"sh(
walk() {
  at= rest=$1 left=40
  while [ -n "$rest" ]; do
    part=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    case $part in
      '' | .) continue ;;
      ..) at=${at%/*}; continue ;;
    esac
    if [ -L "$at/$part" ] && [ "$left" -gt 0 ]; then
      left=$((left - 1))
      target=$(readlink "$at/$part") || return 1
      printf 'link\t%s\t%s\n' "$at/$part" "$target"
      case $target in /*) at= ;; esac
      rest=$target/$rest
    else
      at=$at/$part
    fi
  done
  if [ -d "$at" ]; then
    printf 'folder\t%s\n' "$at"
  elif [ -e "$at" ]; then
    printf 'file\t%s\n' "$at"
  fi
}
printf 'machine\t%s\n' "$(uname -m)"
printf 'l4t\t%s\n' "$(head -n 1 /etc/nv_tegra_release 2>/dev/null)"
command -v rsync >/dev/null 2>&1 && printf 'rsync\n'
for path in "$@"; do
  printf 'ask\t%s\n' "$path"
  walk "$path"
done
exit 0
)sh";

struct Walk {
  std::vector<std::pair<std::string, std::string>> links;
  std::string folder;
  bool file = false;
};

struct FolderAnswers {
  std::map<std::string, Walk> walks;
  std::string machine;
  std::string l4t;
  bool rsync = false;
};

FolderAnswers ask_for_folders(const Transport& transport, const std::vector<std::string>& paths) {
  FolderAnswers answers;
  Walk* walk = nullptr;
  const std::string text =
      transport.require_script("looking for the board's folders", walk_script, paths);
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto words = split(line, '\t');
    const std::size_t more = words.size() - 1;
    if (words[0] == "machine" && more == 1) {
      answers.machine = words[1];
    } else if (words[0] == "l4t" && more >= 1) {
      answers.l4t = parse_l4t(line.substr(4)).value_or("");
    } else if (words[0] == "rsync" && more == 0) {
      answers.rsync = true;
    } else if (words[0] == "ask" && more == 1) {
      walk = &answers.walks[words[1]];
    } else if (walk != nullptr && words[0] == "link" && more == 2) {
      walk->links.emplace_back(words[1], words[2]);
    } else if (walk != nullptr && words[0] == "folder" && more == 1) {
      walk->folder = words[1];
    } else if (walk != nullptr && words[0] == "file" && more == 1) {
      walk->file = true;
    } else {
      throw Error(ErrorKind::board,
                  "the answer of " + transport.host() + " is not understood: " + line,
                  "see what is special about that path there");
    }
  }
  return answers;
}

bool lies_within(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

void add_walk(const Walk& walk, RemoteFolders& found) {
  for (const auto& link : walk.links) {
    if (std::find(found.links.begin(), found.links.end(), link) == found.links.end()) {
      found.links.push_back(link);
    }
  }
  if (!walk.folder.empty()) found.folders.push_back(walk.folder);
}

}  // namespace

const std::vector<std::string>& not_for_linking() {
  static const std::vector<std::string> names = {"modules", "firmware"};
  return names;
}

RemoteFolders find_remote_folders(const Transport& transport, const Board& board,
                                  const std::vector<std::string>& more) {
  const std::string multiarch = "/usr/lib/" + board.triple;
  const std::string loader = loader_of(board);
  std::vector<std::string> wanted = board.sysroot_directories;
  const std::vector<std::string> flat = {"/usr/include", "/usr/lib", "/lib", "/usr/lib64",
                                         "/lib64"};
  // What libraries' links lead through, and what a program that names CUDA's own is compiled with.
  std::vector<std::string> besides = {"/etc/alternatives"};
  if (board.capability) {
    const std::string cuda = "/usr/local/cuda/targets/" + board.cuda_target_directory;
    besides.insert(besides.end(), {cuda + "/include", cuda + "/lib/stubs"});
  }
  std::vector<std::string> asked = wanted;
  for (const auto& list : {flat, besides, more})
    asked.insert(asked.end(), list.begin(), list.end());
  asked.insert(asked.end(), {multiarch, loader});
  const FolderAnswers answers = ask_for_folders(transport, asked);
  if (!answers.walks.at(loader).file) {
    throw Error(ErrorKind::board,
                "wanted a board of " + board.triple + " (" + board.full_name() + "), " +
                    transport.host() + " has no " + loader + " and says it is " + answers.machine,
                "name the board that it is with --type, or the host with --rsync-from");
  }
  RemoteFolders found;
  found.rsync = answers.rsync;
  found.l4t = answers.l4t;
  found.multiarch = !answers.walks.at(multiarch).folder.empty();
  if (!found.multiarch) wanted = flat;
  wanted.insert(wanted.end(), more.begin(), more.end());
  add_walk(answers.walks.at(loader), found);
  for (const auto& path : wanted) {
    const Walk& walk = answers.walks.at(path);
    add_walk(walk, found);
    if (walk.folder.empty() && path.find("64") == std::string::npos) found.missing.push_back(path);
  }
  for (const auto& path : besides) add_walk(answers.walks.at(path), found);
  auto& folders = found.folders;
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  std::vector<std::string> outer;
  for (const auto& folder : folders) {
    if (std::none_of(folders.begin(), folders.end(),
                     [&folder](const auto& other) { return lies_within(folder, other); })) {
      outer.push_back(folder);
    }
  }
  folders = std::move(outer);
  // A link within a folder comes with it.
  found.links.erase(std::remove_if(found.links.begin(), found.links.end(),
                                   [&folders](const auto& link) {
                                     return std::any_of(folders.begin(), folders.end(),
                                                        [&link](const auto& folder) {
                                                          return lies_within(link.first, folder);
                                                        });
                                   }),
                    found.links.end());
  return found;
}

}  // namespace teeny::tool
