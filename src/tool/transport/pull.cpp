#include <algorithm>

#include "tool/transport/transport.hpp"
#include "tool/transport/words.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* copying = "copying from the board";

// $1: names, then paths below the root. BusyBox's tar leaves nothing out, so the entries of a
// folder that has such a name in it are named one by one.
constexpr const char* tar_script = R"sh(
cd / || exit 1
without=$1
shift
count=$#
for path in "$@"; do
  found=
  for name in $without; do
    [ ! -e "$path/$name" ] || found=1
  done
  if [ -z "$found" ]; then
    set -- "$@" "$path"
    continue
  fi
  for entry in "$path"/* "$path"/.[!.]*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    case " $without " in *" ${entry##*/} "*) ;; *) set -- "$@" "$entry" ;; esac
  done
done
shift "$count"
exec tar -c -f - "$@"
)sh";

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// What a copy says of files that the login may not read; nullopt when it says anything else.
std::optional<std::vector<std::string>> only_unreadable(const std::string& error) {
  static const std::vector<std::string_view> harmless = {
      "some files/attrs were not transferred", "Exiting with failure status", "socket ignored",
      "Removing leading", "error exit delayed"};
  std::vector<std::string> unreadable;
  for (const auto& line : split(error, '\n')) {
    const std::string text(trim(line));
    if (text.empty()) continue;
    if (says(text, "Permission denied")) {
      unreadable.push_back(text);
    } else if (std::none_of(harmless.begin(), harmless.end(),
                            [&text](std::string_view part) { return says(text, part); })) {
      return std::nullopt;
    }
  }
  return unreadable;
}

void check_own_disk(const std::string& error, const fs::path& to) {
  if (!says(error, "No space left on device")) return;
  throw Error(ErrorKind::environment, "the disk of this machine is full: " + to.string(),
              "make room there, then run the same command again: it goes on where it was");
}

}  // namespace

std::vector<std::string> Transport::pull_rsync(const std::string& from, const fs::path& to,
                                               const std::vector<std::string>& without) const {
  std::vector<std::string> words = {"rsync",
                                    "-rlt",
                                    "--protect-args",
                                    "--delete",
                                    "--partial",
                                    "--timeout=120",
                                    "--chmod=Du+rwx,Dgo-w,Fu+rw"};
  for (const auto& name : without) words.push_back("--exclude=/" + name);
  words.insert(words.end(),
               {"-e", rsync_shell(words_), host_ + ":" + from + "/", to.string() + "/"});
  Command command{words};
  command.environment["LC_ALL"] = "C";
  const auto result = run(command);
  if (result.exit_code == 0) return {};
  constexpr int partial = 23;
  if (result.exit_code == partial) {
    if (auto unreadable = only_unreadable(result.error)) return *unreadable;
  }
  check_own_disk(result.error, to);
  fail_rsync(copying, result);
}

std::vector<std::string> Transport::pull_tar(const std::vector<std::string>& paths,
                                             const fs::path& to,
                                             const std::vector<std::string>& without) const {
  std::vector<std::string> remote = {"sh", "-c", tar_script, "teeny", join(without, " ")};
  for (const auto& path : paths) remote.push_back(path.substr(1));
  Command sending{words_with({host_, shell_command(remote)})};
  sending.environment["LC_ALL"] = "C";
  Command receiving{{"tar", "-x", "-f", "-", "-C", to.string(), "--no-same-owner"}};
  receiving.environment["LC_ALL"] = "C";
  PipedProcess sender(sending);
  PipedProcess receiver(receiving);
  // A tar stream is a whole number of blocks.
  constexpr std::size_t block = 512;
  constexpr std::size_t piece = std::size_t{256} * 1024;
  using Clock = std::chrono::steady_clock;
  std::string bytes;
  bool taken = true;
  bool late = false;
  for (bool more = true; more && taken;) {
    const auto deadline = Clock::now() + std::chrono::minutes(2);
    const auto next = sender.read(block, deadline);
    more = next.has_value();
    late = !more && Clock::now() >= deadline;
    if (more) bytes += *next;
    if (bytes.size() >= piece || (!more && !bytes.empty())) {
      taken = receiver.write(bytes, deadline);
      bytes.clear();
    }
  }
  // One that has nobody to send to, or sends nothing any more, would not end either.
  if (!taken || late) sender.kill();
  const auto received = receiver.wait();
  auto sent = sender.wait();
  if (late) {
    sent.exit_code = 255;
    sent.error += "\nConnection timed out";
  }
  check_own_disk(received.error, to);
  std::vector<std::string> unreadable;
  if (sent.exit_code != 0 && taken) {
    const auto lines = only_unreadable(sent.error);
    if (!lines || lines->empty() || sent.exit_code == 255) fail(copying, sent);
    unreadable = *lines;
  }
  if (received.exit_code != 0) {
    throw Error(ErrorKind::environment,
                std::string(copying) + ": what came is no whole tar stream\n" +
                    std::string(trim(received.error)),
                "see that `" + typed("true") + "` prints nothing, then run the command again");
  }
  return unreadable;
}

}  // namespace teeny::tool
