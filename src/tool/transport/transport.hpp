#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/transport/connection_directory.hpp"
#include "tool/transport/copy_progress.hpp"
#include "tool/transport/tar.hpp"

#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/cache/package.hpp"

namespace teeny::tool {

/// Bytes in all the files below a directory.
[[nodiscard]] std::uint64_t size_of_files(const std::filesystem::path& directory);

/// What a command calls its options, for messages.
struct TransportFlags {
  std::string host = "--host";
  std::string ssh = "--ssh";
  std::string folder = "--dest";
};

/// The one way to a board: every command that reaches one uses this, so a port, a key or a
/// configuration given once holds for ssh and rsync alike. Host-key checks are the user's own;
/// without a terminal nothing is ever asked. All calls share one connection.
class Transport {
 public:
  /// `host` as ssh knows it: [user@]name or an alias. `ssh`: the command before it, "ssh -p 2222".
  /// Error(usage) for a host that could be read as an option, a path or two words.
  Transport(std::string host, const std::string& ssh, const TransportFlags& flags = {});
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] const std::string& host() const noexcept { return host_; }

  /// Runs a POSIX shell script on the board with $1, $2... set. The result as it came.
  [[nodiscard]] ProcessResult script(const std::string& text,
                                     const std::vector<std::string>& arguments) const;
  /// The same, with its whole output and nothing else: what a login shell prints of its own is left
  /// out, an answer that was cut short is an error. Error when it does not end with 0. `what` says
  /// what was tried; `input`: bytes for its standard input.
  std::string require_script(const std::string& what, const std::string& text,
                             const std::vector<std::string>& arguments,
                             const std::optional<std::string>& input = {}) const;

  /// Copies the contents of a directory into one on the board, which exists, with rsync; files that
  /// are not in `from` go away, one that is half there is gone on with. `like`: a directory on the
  /// board, relative to `to`, whose equal files are copied there and not sent. Returns the bytes
  /// sent. `watcher`: told of the files' bytes that are done.
  std::uint64_t rsync(const std::filesystem::path& from, const std::string& to,
                      const std::optional<std::string>& like,
                      const CopyWatcher& watcher = {}) const;
  /// The same without rsync: a tar stream into an empty directory on the board.
  std::uint64_t send_tar(const std::filesystem::path& from, const std::string& to) const;
  /// Only the `files` of `from` (paths below it, with their modes), and the directories they lie
  /// in. `watcher`: told of the stream's bytes.
  std::uint64_t send_tar(const std::filesystem::path& from, const std::vector<PackagedFile>& files,
                         const std::string& to, const CopyWatcher& watcher = {}) const;

  /// Copies the contents of a directory of the board into one here, which exists, with rsync: links
  /// as links, what is not there any more goes away, a copy that was cut short is gone on with.
  /// `without`: names in it that are left out. Returns rsync's lines about what it may not read.
  [[nodiscard]] std::vector<std::string> pull_rsync(const std::string& from,
                                                    const std::filesystem::path& to,
                                                    const std::vector<std::string>& without) const;
  /// The same without rsync, of several paths below the board's root, into the same places below
  /// `to`: one tar stream. `without`: names (of letters) that are left out in each of them.
  [[nodiscard]] std::vector<std::string> pull_tar(const std::vector<std::string>& paths,
                                                  const std::filesystem::path& to,
                                                  const std::vector<std::string>& without) const;

  /// Runs a command of the board with our own three streams, as it stands and without a terminal
  /// there. Returns its exit code, 128 + signal when a signal ended it. SIGINT, SIGTERM and SIGHUP
  /// to this process meanwhile are sent on to it and to all that it started, and SIGKILL to what is
  /// still there 5 s later; a second one ends this process at once. Error when the connection is
  /// lost.
  [[nodiscard]] int run_program(const std::vector<std::string>& words) const;

  /// What a user types to run a command there: for messages.
  [[nodiscard]] std::string typed(const std::string& command) const;

 private:
  [[nodiscard]] ProcessResult send_script(const std::string& text,
                                          const std::vector<std::string>& arguments,
                                          const std::optional<std::string>& input) const;
  [[nodiscard]] std::vector<std::string> words_with(const std::vector<std::string>& more) const;
  [[noreturn]] void fail(const std::string& what, const ProcessResult& result) const;
  std::uint64_t send_stream(const std::string& to,
                            const std::function<std::optional<std::uint64_t>(const Sink&)>& write,
                            const CopyWatcher& watcher) const;
  [[noreturn]] void fail_rsync(const std::string& what, const ProcessResult& result) const;
  [[noreturn]] void fail_host_key(const std::string& what, const std::string& error) const;
  [[nodiscard]] std::string fingerprint() const;

  TransportFlags flags_;
  std::string host_;
  std::vector<std::string> user_words_;              ///< the user's own --ssh
  std::vector<std::string> words_;                   ///< with our options
  std::unique_ptr<ConnectionDirectory> connection_;  ///< holds the shared connection's socket
  bool shared_ = false;
};

}  // namespace teeny::tool
