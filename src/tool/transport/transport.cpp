#include "tool/transport/transport.hpp"

#include <algorithm>

#include <unistd.h>

#include "tool/package/findings.hpp"
#include "tool/transport/tar.hpp"
#include "tool/transport/words.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string last_lines(const std::string& text, std::size_t count = 4) {
  auto lines = split(trim(text), '\n');
  if (lines.size() > count)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  for (auto& line : lines) line = std::string(trim(line));
  return join(lines, "\n");
}

void check_host(const std::string& host, const TransportFlags& flags) {
  const auto refuse = [&](const std::string& why, const std::string& next) {
    throw Error(ErrorKind::usage, flags.host + " \"" + host + "\": " + why, next);
  };
  const std::string wanted = "give [user@]name, or an alias of your ssh configuration";
  if (host.empty()) refuse("it is empty", wanted);
  if (host.front() == '-') refuse("it begins with a dash, as an option does", wanted);
  const auto at = host.find('@');
  if (at != std::string::npos && (at + 1 == host.size() || host[at + 1] == '-' || at == 0)) {
    refuse("user or name is missing or begins with a dash", wanted);
  }
  if (contains(host, ":")) {
    refuse("it holds a colon", "a port goes into " + flags.ssh +
                                   " (\"ssh -p 2222\"), a folder into " + flags.folder +
                                   ", an IPv6 address into an alias of your ssh configuration");
  }
  const bool odd = std::any_of(host.begin(), host.end(), [](unsigned char c) {
    return c <= ' ' || c == 127 || c == '/' || c == '\'' || c == '"' || c == '\\' || c == '$' ||
           c == '`' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' ||
           c == ')';
  });
  if (odd) refuse("it holds a character that no host name has", wanted);
}

// Seconds without a word from the far side until it counts as hung. Each side reads all of its
// files before it speaks, and a card in a board is slow.
std::uint64_t rsync_patience(const fs::path& directory) {
  constexpr std::uint64_t slowest_card = 20'000'000;  // bytes a second
  return 60 + size_of_files(directory) / slowest_card;
}

// Runs an rsync that tells its progress: lines that end in a carriage return.
ProcessResult run_watched(const Command& command, const CopyWatcher& watcher) {
  PipedProcess process(command);
  std::string output;
  std::size_t line = 0;
  while (const auto byte = process.read(1, PipedProcess::Deadline::max())) {
    const bool ended = *byte == "\r" || *byte == "\n";
    output += ended ? "\n" : *byte;
    if (!ended) continue;
    if (const auto done = rsync_progress(std::string_view(output).substr(line))) {
      watcher(*done);
      output.resize(line);
    }
    line = output.size();
  }
  auto result = process.wait();
  result.output = output;
  return result;
}

// Longer paths do not fit a socket's address, with what ssh puts behind.
constexpr std::size_t longest_socket_path = 70;

}  // namespace

std::uint64_t size_of_files(const fs::path& directory) {
  std::uint64_t size = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) size += entry.file_size();
  }
  return size;
}

Transport::Transport(std::string host, const std::string& ssh, const TransportFlags& flags)
    : flags_(flags),
      host_(std::move(host)),
      user_words_(split_words(flags_.ssh, ssh)),
      words_(user_words_) {
  check_host(host_, flags_);
  // ssh takes the first value it sees: what the user gave in --ssh stays in force.
  for (const char* option :
       {"ConnectTimeout=8", "ServerAliveInterval=5", "ServerAliveCountMax=3"}) {
    words_.insert(words_.end(), {"-o", option});
  }
  if (::isatty(STDIN_FILENO) == 0) words_.insert(words_.end(), {"-o", "BatchMode=yes"});
  connection_ = std::make_unique<ConnectionDirectory>();
  const std::string socket = (connection_->path() / "c").string();
  if (socket.size() <= longest_socket_path && !contains(socket, "%") && !contains(socket, " ")) {
    words_.insert(words_.end(), {"-o", "ControlMaster=auto", "-o", "ControlPath=" + socket, "-o",
                                 "ControlPersist=60"});
    shared_ = true;
  }
}

Transport::~Transport() {
  try {
    if (!connection_ || !fs::exists(connection_->path() / "c")) return;
    Command command{words_};
    command.argv.insert(command.argv.end(), {"-O", "exit", host_});
    command.timeout = std::chrono::seconds(5);
    static_cast<void>(run(command));
  } catch (...) {
    // The connection ends by itself after a minute.
  }
}

std::vector<std::string> Transport::words_with(const std::vector<std::string>& more) const {
  std::vector<std::string> words = words_;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string Transport::typed(const std::string& command) const {
  std::vector<std::string> words = user_words_;
  words.insert(words.end(), {host_, command});
  return display(words);
}

ProcessResult Transport::script(const std::string& text,
                                const std::vector<std::string>& arguments) const {
  return send_script(text, arguments, std::nullopt);
}

ProcessResult Transport::send_script(const std::string& text,
                                     const std::vector<std::string>& arguments,
                                     const std::optional<std::string>& input) const {
  std::vector<std::string> remote = {"sh", "-c", text, "teeny"};
  remote.insert(remote.end(), arguments.begin(), arguments.end());
  Command command{words_with({host_, shell_command(remote)})};
  command.environment["LC_ALL"] = "C";
  command.input = input;
  return run(command);
}

std::string Transport::require_script(const std::string& what, const std::string& text,
                                      const std::vector<std::string>& arguments,
                                      const std::optional<std::string>& input) const {
  constexpr std::string_view begin = "TEENY-BEGIN\n";
  constexpr std::string_view end = "\nTEENY-END\n";
  auto result = send_script(
      "printf 'TEENY-BEGIN\\n'\n(\n" + text + "\n)\nrc=$?\nprintf '\\nTEENY-END\\n'\nexit $rc\n",
      arguments, input);
  const auto from = result.output.find(begin);
  const auto to = result.output.rfind(end);
  const bool began = from != std::string::npos;
  const bool whole = began && to != std::string::npos && to + 1 >= from + begin.size();
  if (result.exit_code != 0) {
    if (whole) result.output = result.output.substr(from + begin.size());
    fail(what, result);
  }
  if (!began) {
    throw Error(ErrorKind::board, what + ": " + host_ + " runs no POSIX shell",
                "see what `" + typed("echo hello") + "` prints");
  }
  if (!whole) {
    throw Error(ErrorKind::environment, what + ": the answer of " + host_ + " is cut short",
                "try again", finding_code::unreachable);
  }
  const auto start = from + begin.size();
  return to < start ? "" : result.output.substr(start, to - start);
}

std::uint64_t Transport::rsync(const fs::path& from, const std::string& to,
                               const std::optional<std::string>& like,
                               const CopyWatcher& watcher) const {
  // By content, not by size and time: a changed file of the same size and time is sent. What two
  // releases have in common is copied on the board, not linked: writing to one changes no other.
  std::vector<std::string> words = {
      "rsync",          "-rlp",
      "--protect-args", "--checksum",
      "--delete",       "--partial",
      "--stats",        "--no-human-readable",
      "--chmod=D0755",  "--timeout=" + std::to_string(rsync_patience(from))};
  if (like) words.push_back("--copy-dest=" + *like);
  // Where each call asks for its own password, rsync's ssh has to stay in the foreground.
  const bool watched = watcher && shared_;
  if (watched) words.insert(words.end(), {"--info=progress2", "--outbuf=L"});
  words.insert(words.end(),
               {"-e", rsync_shell(words_), from.string() + "/", host_ + ":" + to + "/"});
  Command command{words};
  command.environment["LC_ALL"] = "C";
  const auto result = watched ? run_watched(command, watcher) : run(command);
  if (result.exit_code != 0) fail_rsync("copying the package", result);
  for (const auto& line : split(result.output, '\n')) {
    constexpr std::string_view label = "Total bytes sent: ";
    if (line.rfind(label, 0) == 0) {
      return parse_unsigned(trim(std::string_view(line).substr(label.size()))).value_or(0);
    }
  }
  return 0;
}

std::uint64_t Transport::send_tar(const fs::path& from, const std::string& to) const {
  return send_stream(to, [&from](const Sink& sink) { return write_tar(from, sink); }, {});
}

std::uint64_t Transport::send_tar(const fs::path& from, const std::vector<PackagedFile>& files,
                                  const std::string& to, const CopyWatcher& watcher) const {
  return send_stream(to, [&](const Sink& sink) { return write_tar(from, files, sink); }, watcher);
}

std::uint64_t Transport::send_stream(
    const std::string& to, const std::function<std::optional<std::uint64_t>(const Sink&)>& write,
    const CopyWatcher& watcher) const {
  const std::vector<std::string> remote = {"tar", "-x", "-p", "-f", "-", "-C", to};
  Command command{words_with({host_, shell_command(remote)})};
  command.environment["LC_ALL"] = "C";
  PipedProcess process(command);
  bool late = false;
  std::uint64_t taken_so_far = 0;
  const auto sent = write([&](std::string_view bytes) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const bool taken = process.write(bytes, deadline);
    late = !taken && std::chrono::steady_clock::now() >= deadline;
    taken_so_far += bytes.size();
    if (taken && watcher) watcher(taken_so_far);
    return taken;
  });
  // One that takes nothing any more would not end either; one that is gone has its reason to tell.
  if (late) process.kill();
  const auto result = process.wait();
  if (result.exit_code != 0 || !sent) fail("copying the package", result);
  return *sent;
}

std::string Transport::fingerprint() const {
  // The user's command may be a program of its own that starts ssh: the option goes behind it.
  Command command{words_with({"-v", host_, "true"})};
  command.timeout = std::chrono::seconds(9);
  constexpr std::string_view label = "Server host key: ";
  for (const auto& line : split(run(command).error, '\n')) {
    const auto at = line.find(label);
    if (at != std::string::npos) return std::string(trim(line.substr(at + label.size())));
  }
  return "";
}

void Transport::fail_host_key(const std::string& what, const std::string& error) const {
  const std::string key = fingerprint();
  const std::string shown = key.empty() ? "" : " (it shows " + key + ")";
  if (contains(error, "IDENTIFICATION HAS CHANGED")) {
    throw Error(
        ErrorKind::environment,
        what + ": the host key of " + host_ + " is not the one on record" + shown + "\n" +
            last_lines(error, 8),
        "if the board was set up anew, remove the old key with ssh-keygen -R and accept the "
        "new one by `" +
            typed("true") + "`; else somebody may be in between",
        finding_code::unreachable);
  }
  throw Error(
      ErrorKind::environment, what + ": the host key of " + host_ + " is not known" + shown,
      "compare the fingerprint with the board's own, then accept it once by hand: " + typed("true"),
      finding_code::unreachable);
}

void Transport::fail(const std::string& what, const ProcessResult& result) const {
  const std::string& error = result.error;
  const auto unreachable = [&](const std::string& text, const std::string& next) {
    throw Error(ErrorKind::environment, what + ": " + text, next, finding_code::unreachable);
  };
  if (contains(error, "Host key verification failed")) fail_host_key(what, error);
  if (contains(error, "No space left on device")) {
    throw Error(ErrorKind::board, what + ": the board's disk is full\n" + last_lines(error),
                "remove old releases there", finding_code::space);
  }
  if (result.exit_code == 255) {
    if (contains(error, "Permission denied")) {
      unreachable(host_ + " refuses the login\n" + last_lines(error),
                  "see that `" + typed("true") + "` works; keys and users go into " + flags_.ssh +
                      " or your ssh configuration");
    }
    if (contains(error, "Could not resolve hostname")) {
      unreachable("there is no host called " + host_,
                  "check the name, or add it to your ssh configuration");
    }
    if (contains(error, "Connection refused")) {
      unreachable(host_ + " answers, but no ssh server listens on that port\n" + last_lines(error),
                  "a port goes into " + flags_.ssh + ": \"ssh -p 2222\"");
    }
    if (contains(error, "No route to host") || contains(error, "timed out") ||
        contains(error, "not responding") || contains(error, "Connection closed") ||
        contains(error, "Connection reset") || contains(error, "Broken pipe")) {
      unreachable(
          "the connection to " + host_ + " is gone or never came about\n" + last_lines(error),
          "see that the board is on and the network is up, then try again");
    }
    unreachable("ssh to " + host_ + " failed\n" + last_lines(error), "try `" + typed("true") + "`");
  }
  std::string next;
  if (contains(error, "Read-only file system")) {
    next = "the disk is read-only there: name a --dest that is not, or remount it";
  } else if (contains(error, "Permission denied") || contains(error, "Operation not permitted")) {
    next =
        "name a --dest that the login may write to, or make it once as root there and give it "
        "to the login";
  }
  const std::string said = last_lines(error.empty() ? result.output : error);
  throw Error(ErrorKind::board,
              what + " failed on " + host_ + " (exit code " + std::to_string(result.exit_code) +
                  ")" + (said.empty() ? "" : "\n" + said),
              next);
}

void Transport::fail_rsync(const std::string& what, const ProcessResult& result) const {
  const std::string& error = result.error;
  if (contains(error, "protocol incompatibility") || contains(error, "is your shell clean")) {
    throw Error(
        ErrorKind::board,
        what + ": the login shell on " + host_ + " prints text of its own, which breaks rsync",
        "let its start-up files print nothing when the session is not interactive");
  }
  if (result.exit_code == 30 || result.exit_code == 12 || result.exit_code == 10) {
    const bool by_ssh =
        contains(error, "Host key verification failed") || contains(error, "Permission denied (");
    if (by_ssh || contains(error, "not responding") || contains(error, "timeout") ||
        contains(error, "unexpectedly closed") || contains(error, "Broken pipe")) {
      ProcessResult of_ssh = result;
      of_ssh.exit_code = 255;
      if (!by_ssh && !contains(error, "Broken pipe")) of_ssh.error += "\nConnection closed";
      if (!contains(error, "No space left on device")) fail(what, of_ssh);
    }
  }
  fail(what, result);
}

}  // namespace teeny::tool
