#include "tool/transport/release.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tool/package/findings.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// $1: destination, $2: release id.
constexpr const char* look_script = R"sh(
cd || exit 3
printf 'TEENY-OK\nmachine=%s\n' "$(uname -m)"
case $1 in /*) d=$1 ;; *) d=$(pwd)/$1 ;; esac
printf 'destination=%s\n' "$d"
command -v rsync >/dev/null 2>&1 && printf 'rsync=yes\n'
command -v sha256sum >/dev/null 2>&1 && printf 'sha256sum=yes\n'
[ -L "$d/current" ] && printf 'current=%s\n' "$(readlink "$d/current")"
[ -d "$d/releases/$2" ] && printf 'release=yes\n'
while [ ! -d "$d" ]; do d=${d%/*}; [ -n "$d" ] || d=/; done
df -Pk "$d" 2>/dev/null | { read -r head; read -r name blocks used free rest; printf 'free=%s\n' "$free"; }
exit 0
)sh";

// $1: directory to make (and, with $2, to empty first).
constexpr const char* prepare_script = R"sh(
set -e
if [ "$2" = empty ]; then rm -rf "$1"; fi
mkdir -p "$1"
)sh";

// $1: the release's directory.
constexpr const char* files_script = R"sh(
cd "$1" || exit 3
find . -type f -exec sha256sum {} + || exit 4
printf 'TEENY-EXECUTABLE\n'
find . -type f -perm -100 -print || exit 4
printf 'TEENY-ODD\n'
find . ! -type f ! -type d -print || exit 4
printf 'TEENY-END\n'
)sh";

// $1: releases/, $2: id.
constexpr const char* settle_script = R"sh(
set -e
cd "$1"
rm -rf ".old-$2"
if [ -e "$2" ]; then mv "$2" ".old-$2"; fi
mv "$2.partial" "$2"
rm -rf ".old-$2"
)sh";

// $1: destination, $2: id.
constexpr const char* switch_script = R"sh(
set -e
cd "$1"
sync
rm -rf .current.new
ln -s "releases/$2" .current.new
mv -T .current.new current
[ "$(readlink current)" = "releases/$2" ]
printf 'TEENY-DONE\n'
)sh";

// sha256sum marks a name that holds a backslash or a line break by a backslash before the digest.
std::string plain_name(std::string name, bool escaped) {
  if (escaped) {
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (name[i] != '\\' || i + 1 == name.size()) {
        result += name[i];
      } else {
        ++i;
        result += name[i] == 'n' ? '\n' : name[i] == 'r' ? '\r' : name[i];
      }
    }
    name = std::move(result);
  }
  return name.rfind("./", 0) == 0 ? name.substr(2) : name;
}

}  // namespace

ReleaseDirectory::ReleaseDirectory(const Transport& transport, std::string destination,
                                   std::string id)
    : transport_(transport), destination_(std::move(destination)), id_(std::move(id)) {
  if (destination_.rfind("~/", 0) == 0) destination_.erase(0, 2);
  while (destination_.size() > 1 && destination_.back() == '/') destination_.pop_back();
  if (destination_.empty() || destination_ == "~" || destination_ == "/" || destination_ == ".") {
    throw Error(ErrorKind::usage, "--dest must name a directory of its own on the board",
                "for instance --dest apps/demo");
  }
  if (destination_.find_first_of(std::string("\0\n", 2)) != std::string::npos) {
    throw Error(ErrorKind::usage, "--dest holds a line break or a zero byte");
  }
}

BoardState ReleaseDirectory::look() {
  const std::string output =
      transport_.require_script("looking at the board", look_script, {destination_, id_});
  // A login shell may print lines of its own before ours.
  const auto start = output.find("TEENY-OK\n");
  if (start == std::string::npos) {
    throw Error(ErrorKind::board,
                "looking at the board: " + transport_.host() + " runs no POSIX shell",
                "see what `" + transport_.typed("echo hello") + "` prints");
  }
  std::map<std::string, std::string> values;
  for (const auto& line : split(output.substr(start), '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  if (values["sha256sum"] != "yes") {
    throw Error(ErrorKind::board,
                transport_.host() + " has no sha256sum, by which a copy is verified",
                "install coreutils or BusyBox there");
  }
  BoardState state;
  state.machine = values["machine"];
  state.destination = values["destination"];
  state.has_rsync = values["rsync"] == "yes";
  state.has_release = values["release"] == "yes";
  state.free_kib = parse_unsigned(values["free"]);
  constexpr std::string_view prefix = "releases/";
  if (values["current"].rfind(prefix, 0) == 0)
    state.current = values["current"].substr(prefix.size());
  destination_ = state.destination;
  return state;
}

std::uint64_t ReleaseDirectory::copy(const fs::path& package, const BoardState& state,
                                     bool with_rsync) {
  const std::string partial = release() + ".partial";
  static_cast<void>(transport_.require_script("making " + partial, prepare_script,
                                              {partial, with_rsync ? "keep" : "empty"}));
  if (!with_rsync) return transport_.send_tar(package, partial);
  // A damaged release of the same id must not lend its files.
  std::optional<std::string> like;
  if (!state.current.empty() && state.current != id_) like = "../" + state.current;
  return transport_.rsync(package, partial, like);
}

std::vector<PackagedFile> ReleaseDirectory::files(bool partial) const {
  const std::string output = transport_.require_script(
      "verifying the copy", files_script, {partial ? release() + ".partial" : release()});
  std::vector<PackagedFile> files;
  std::set<std::string> executable;
  enum { digests, executables, odd, end } section = digests;
  for (const auto& line : split(output, '\n')) {
    if (line == "TEENY-EXECUTABLE")
      section = executables;
    else if (line == "TEENY-ODD")
      section = odd;
    else if (line == "TEENY-END")
      section = end;
    else if (line.empty())
      continue;
    else if (section == executables)
      executable.insert(plain_name(line, false));
    else if (section == odd)
      files.push_back({plain_name(line, false), 0, 0, "not a file"});
    else if (section == digests) {
      const bool escaped = line.front() == '\\';
      const std::string rest = line.substr(escaped ? 1 : 0);
      if (rest.size() < 67) continue;
      files.push_back({plain_name(rest.substr(66), escaped), 0644, 0, rest.substr(0, 64)});
    }
  }
  if (section != end) {
    throw Error(ErrorKind::board, "verifying the copy: the board's answer is cut short",
                "try again", finding_code::unreachable);
  }
  for (auto& file : files) {
    if (executable.count(file.path) != 0) file.mode = 0755;
  }
  std::sort(files.begin(), files.end(),
            [](const PackagedFile& a, const PackagedFile& b) { return a.path < b.path; });
  return files;
}

void ReleaseDirectory::settle() const {
  static_cast<void>(transport_.require_script("naming the release", settle_script,
                                              {destination_ + "/releases", id_}));
}

void ReleaseDirectory::switch_to() const {
  const auto output =
      transport_.require_script("switching to the release", switch_script, {destination_, id_});
  if (output.find("TEENY-DONE") == std::string::npos) {
    throw Error(ErrorKind::board, "the board did not confirm the switch", "deploy again");
  }
}

}  // namespace teeny::tool
