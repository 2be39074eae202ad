#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teeny {

/// How a child process is started. `argv[0]` is looked up on PATH unless it holds a slash; no shell
/// is ever involved.
struct Command {
  std::vector<std::string> argv;
  std::filesystem::path directory = {};                 ///< working directory; empty: ours
  std::map<std::string, std::string> environment = {};  ///< added to ours, or replacing it:
  bool clear_environment = false;
  std::optional<std::string> input = {};  ///< bytes for standard input; nullopt: /dev/null
  bool inherit_input = false;             ///< give the child our own standard input
  bool capture_output = true;             ///< false: the child's stdout is ours
  bool capture_error = true;              ///< false: the child's stderr is ours
  bool output_to_error = false;  ///< with capture_output false: the child's stdout is our stderr
  std::optional<std::chrono::milliseconds> timeout = {};  ///< then SIGKILL to its process group
};

struct ProcessResult {
  int exit_code = 0;  ///< 128 + signal when a signal ended it
  int signal = 0;     ///< 0: it exited by itself
  bool timed_out = false;
  std::string output;
  std::string error;
};

/// Runs to the end. Error(environment) only when it cannot be started (naming the program).
[[nodiscard]] ProcessResult run(const Command& command);

/// The command as one would type it: words quoted for a POSIX shell where needed. For messages
/// only.
[[nodiscard]] std::string display(const std::vector<std::string>& argv);

/// First executable of that name on PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

/// A child that stays alive and talks over its stdin and stdout; its stderr is kept (last 64 KiB).
/// Destruction closes stdin, waits briefly, then kills.
class PipedProcess {
 public:
  explicit PipedProcess(const Command& command);
  ~PipedProcess();
  PipedProcess(const PipedProcess&) = delete;
  PipedProcess& operator=(const PipedProcess&) = delete;

  using Deadline = std::chrono::steady_clock::time_point;
  /// False when the child has gone or the deadline passed.
  [[nodiscard]] bool write(std::string_view bytes, Deadline deadline);
  /// Exactly `count` bytes, or nullopt when the child has gone or the deadline passed.
  [[nodiscard]] std::optional<std::string> read(std::size_t count, Deadline deadline);
  void kill();
  /// Waits for the end and reports how it ended; `error` holds what it wrote to stderr.
  [[nodiscard]] ProcessResult wait();
  [[nodiscard]] int pid() const noexcept { return pid_; }

 private:
  void drain_error();
  int pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool reaped_ = false;
  std::string error_;
};

}  // namespace teeny
