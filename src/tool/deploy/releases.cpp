#include "tool/deploy/releases.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tool/package/findings.hpp"
#include "tool/transport/words.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// The scripts keep to what BusyBox has. Names that they make are of digits and letters, or begin
// with a dot; paths that they are given are absolute.

// $1: destination, $2: release id or nothing.
constexpr const char* look_script = R"sh(
cd 2>/dev/null || case $1 in /*) ;; *) echo "the login has no home directory" >&2; exit 3 ;; esac
case $1 in /*) d=$1 ;; *) d=$(pwd)/$1 ;; esac
printf 'destination=%s\n' "$d"
command -v rsync >/dev/null 2>&1 && printf 'rsync=yes\n'
command -v sha256sum >/dev/null 2>&1 && printf 'sha256sum=yes\n'
[ -L "$d/current" ] && printf 'current=%s\n' "$(readlink "$d/current")"
for r in "$d/releases"/*; do [ -d "$r" ] && printf 'release=%s\n' "${r##*/}"; done
[ -f "$d/history" ] && sed 's/^/history=/' "$d/history"
if [ -n "$2" ]; then
  for r in "$d/releases/$2".partial-*; do
    [ -d "$r" ] && du -sk "$r" | { read -r kib name; printf 'staged=%s\n' "$kib"; }
  done
fi
d=$d/releases
while [ ! -d "$d" ]; do d=${d%/*}; [ -n "$d" ] || d=/; done
[ -w "$d" ] || printf 'unwritable=%s\n' "$d"
exit 0
)sh";

// $1: releases/, then patterns for names below it.
constexpr const char* files_script = R"sh(
cd "$1" 2>/dev/null || exit 0
shift
for top in $1; do
  [ -d "$top" ] || continue
  cd "$top" || exit 3
  find . -type f ! -perm -100 -exec sha256sum {} + || exit 4
  printf 'TEENY-EXECUTABLE\n'
  find . -type f -perm -100 -exec sha256sum {} + || exit 4
  printf 'TEENY-ODD\n'
  find . ! -type f ! -type d -print || exit 4
  exit 0
done
)sh";

// $1: releases/, $2: id, $3: token.
constexpr const char* stage_script = R"sh(
set -e
mkdir -p "$1"
cd "$1"
new=$2.partial-$3
mkdir "$new"
for old in "$2".partial-*; do
  [ "$old" != "$new" ] && [ -d "$old" ] || continue
  for f in "$old"/*; do
    [ -e "$f" ] || continue
    [ -e "$new/${f##*/}" ] || mv "$f" "$new/"
  done
  rm -rf "$old"
done
)sh";

// $1: directory, $2: program. What it says of errors comes first.
constexpr const char* check_script = R"sh(
exec 3>&1
out=$("$1/bin/$2" --check </dev/null 2>&3)
rc=$?
printf '\nTEENY-OUT\n%s\nTEENY-RC %s\n' "$out" "$rc"
)sh";

// $1: destination, $2: id, $3: staged name or nothing, $4: the history.
// BusyBox's mv had no -T for long; then the link is away for a moment.
constexpr const char* switch_script = R"sh(
set -e
cd "$1"
if [ -n "$3" ]; then
  [ -d "releases/$3" ] || { echo "another deploy of this release has taken over" >&2; exit 5; }
  sync
  rm -rf "releases/.old-$2"
  [ ! -e "releases/$2" ] || mv "releases/$2" "releases/.old-$2"
  mv "releases/$3" "releases/$2"
fi
printf '%s' "$4" > .history.new
mv -f .history.new history
rm -rf .current.new
ln -s "releases/$2" .current.new
mv -T .current.new current 2>/dev/null || { rm -f .current.new; ln -sfn "releases/$2" current; }
sync
rm -rf "releases/.old-$2"
[ "$(readlink current)" = "releases/$2" ]
)sh";

// $1: releases/, then names.
constexpr const char* remove_releases_script = R"sh(
set -e
cd "$1"
shift
for name; do rm -rf "./$name"; done
)sh";

constexpr const char* leftovers_script = R"sh(
cd "$1" && find . -mindepth 1 -maxdepth 1 -type d \( -name '*.partial*' -o -name '.old-*' \) -mtime +0 \
  -exec rm -rf {} +
)sh";

// sha256sum marks a name that holds a backslash by a backslash before the digest (BusyBox's does
// neither).
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

std::vector<PackagedFile> parse_files(const std::string& output) {
  std::vector<PackagedFile> files;
  unsigned mode = 0644;
  bool odd = false;
  for (const auto& line : split(output, '\n')) {
    if (line == "TEENY-EXECUTABLE") {
      mode = 0755;
    } else if (line == "TEENY-ODD") {
      odd = true;
    } else if (odd && !line.empty()) {
      files.push_back({plain_name(line, false), 0, 0, "not a file"});
    } else {
      const bool escaped = !line.empty() && line.front() == '\\';
      const std::string rest = line.substr(escaped ? 1 : 0);
      if (rest.size() < 67) continue;
      files.push_back({plain_name(rest.substr(66), escaped), mode, 0, rest.substr(0, 64)});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const PackagedFile& a, const PackagedFile& b) { return a.path < b.path; });
  return files;
}

bool is_release_id(const std::string& name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 16; ++i) token += "0123456789abcdef"[source() % 16];
  return token;
}

// What has to be done in the staged directory before the rest is sent; as a script, because a list
// of files may be longer than a command can be.
std::string arranging_script(const CopyPlan& plan, const std::vector<PackagedFile>& wanted,
                             const std::string& staged, const std::string& like) {
  std::string script = "set -e\ncd " + quote_for_shell(staged) + "\n";
  for (const auto& path : plan.removed) script += "rm -rf " + quote_for_shell("./" + path) + "\n";
  std::set<std::string> directories;
  for (const auto& file : wanted) {
    directories.insert((fs::path("./") / fs::path(file.path).parent_path()).string());
  }
  for (const auto& directory : directories) {
    script += "mkdir -p " + quote_for_shell(directory) + "\n";
  }
  for (const auto& [from, file] : plan.taken) {
    const std::string to = quote_for_shell("./" + file.path);
    script += "cp " + quote_for_shell(like + "/" + from) + " " + to + "\n";
    script += std::string("chmod ") + (file.mode == 0755 ? "755 " : "644 ") + to + "\n";
  }
  return script;
}

}  // namespace

bool BoardState::has(const std::string& id) const {
  return std::find(releases.begin(), releases.end(), id) != releases.end();
}

std::string BoardState::likest() const {
  if (has(current)) return current;
  for (auto id = history.rbegin(); id != history.rend(); ++id) {
    if (has(*id)) return *id;
  }
  return "";
}

Releases::Releases(const Transport& transport, std::string destination)
    : transport_(transport), destination_(std::move(destination)) {
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

BoardState Releases::look(const std::string& id) {
  const std::string output =
      transport_.require_script("looking at the board", look_script, {destination_, id});
  BoardState state;
  std::map<std::string, std::string> values;
  for (const auto& line : split(output, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key == "release") {
      if (is_release_id(value)) state.releases.push_back(value);
    } else if (key == "history") {
      if (is_release_id(value)) state.history.push_back(value);
    } else if (key == "staged") {
      state.staged_kib += parse_unsigned(value).value_or(0);
    } else {
      values[key] = value;
    }
  }
  if (values["sha256sum"] != "yes") {
    throw Error(ErrorKind::board,
                transport_.host() + " has no sha256sum, by which a copy is verified",
                "install coreutils or BusyBox there");
  }
  state.destination = values["destination"];
  state.has_rsync = values["rsync"] == "yes";
  state.unwritable = values["unwritable"];
  constexpr std::string_view prefix = "releases/";
  if (values["current"].rfind(prefix, 0) == 0)
    state.current = values["current"].substr(prefix.size());
  std::sort(state.releases.begin(), state.releases.end());
  destination_ = state.destination;
  return state;
}

std::vector<PackagedFile> Releases::files(const std::string& name) const {
  return parse_files(transport_.require_script("verifying the copy", files_script,
                                               {destination_ + "/releases", name}));
}

std::vector<PackagedFile> Releases::staged_files(const std::string& id) const {
  return files(id + ".partial-*");
}

std::string Releases::read(const std::string& name, const std::string& path) const {
  return transport_.require_script("reading " + path, "cat \"$1\"", {path_of(name) + "/" + path});
}

std::string Releases::stage(const std::string& id) const {
  const std::string token = random_token();
  const std::string releases = destination_ + "/releases";
  static_cast<void>(
      transport_.require_script("making " + releases, stage_script, {releases, id, token}));
  return id + ".partial-" + token;
}

std::uint64_t Releases::copy_by_rsync(const fs::path& package, const std::string& staged,
                                      const std::string& like) const {
  std::optional<std::string> lender;
  if (!like.empty()) lender = "../" + like;
  CopyProgress progress(size_of_files(package));
  return transport_.rsync(package, path_of(staged), lender, progress.watcher());
}

std::uint64_t Releases::copy_by_tar(const fs::path& package,
                                    const std::vector<PackagedFile>& wanted,
                                    const std::string& staged, const std::string& like) const {
  const auto lent = like.empty() ? std::vector<PackagedFile>() : files(like);
  const CopyPlan plan = plan_copy(wanted, files(staged), lent);
  static_cast<void>(
      transport_.require_script("arranging " + path_of(staged), "exec sh -s", {},
                                arranging_script(plan, wanted, path_of(staged), path_of(like))));
  CopyProgress progress(plan.sent_bytes);
  return transport_.send_tar(package, plan.sent, path_of(staged), progress.watcher());
}

ProcessResult Releases::check(const std::string& name, const std::string& program) const {
  const std::string output =
      transport_.require_script("checking " + program, check_script, {path_of(name), program});
  constexpr std::string_view middle = "\nTEENY-OUT\n";
  constexpr std::string_view label = "\nTEENY-RC ";
  const auto out = output.find(middle);
  const auto at = output.rfind(label);
  if (out == std::string::npos || at == std::string::npos || at < out + middle.size()) {
    throw Error(ErrorKind::board, "checking " + program + ": the board's answer makes no sense");
  }
  ProcessResult result;
  result.error = output.substr(0, out);
  result.output = output.substr(out + middle.size(), at - out - middle.size());
  const auto code = parse_unsigned(trim(std::string_view(output).substr(at + label.size())));
  result.exit_code = code ? static_cast<int>(*code) : 1;
  return result;
}

void Releases::switch_to(const std::string& id, const std::string& staged,
                         const std::vector<std::string>& history) const {
  std::string text;
  for (const auto& line : history) text += line + "\n";
  static_cast<void>(transport_.require_script("switching to the release", switch_script,
                                              {destination_, id, staged, text}));
}

void Releases::remove(const std::vector<std::string>& names) const {
  if (names.empty()) return;
  std::vector<std::string> arguments = {destination_ + "/releases"};
  arguments.insert(arguments.end(), names.begin(), names.end());
  static_cast<void>(
      transport_.require_script("removing old releases", remove_releases_script, arguments));
}

void Releases::remove_leftovers() const {
  static_cast<void>(transport_.require_script("removing what earlier deploys left",
                                              leftovers_script, {destination_ + "/releases"}));
}

}  // namespace teeny::tool
