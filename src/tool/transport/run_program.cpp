#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "tool/package/findings.hpp"
#include "tool/transport/transport.hpp"
#include "tool/transport/words.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"

namespace teeny::tool {

namespace {

// $1: the run's mark; then the program and its arguments. ssh reports a signal as 255, a shell as
// 128 + signal; the mark is how the program and all that it starts are found again.
constexpr const char* run_script = R"sh(
TEENY_RUN_ID=$1
export TEENY_RUN_ID
shift
"$@"
exit $?
)sh";

// $1: the run's mark, $2: signal.
constexpr const char* signal_script = R"sh(
marked() { grep -ls "TEENY_RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null; }
send() {
  for f in $(marked "$2"); do
    p=${f#/proc/}
    kill -s "$1" "${p%/environ}" 2>/dev/null
  done
}
send "$2" "$1"
n=0
while [ -n "$(marked "$1")" ] && [ "$n" -lt 25 ]; do
  sleep 0.2 2>/dev/null || { sleep 1; n=$((n + 4)); }
  n=$((n + 1))
done
send KILL "$1"
exit 0
)sh";

constexpr std::array<int, 3> passed_on = {SIGINT, SIGTERM, SIGHUP};

const char* signal_name(int signal) {
  return signal == SIGINT ? "INT" : signal == SIGTERM ? "TERM" : "HUP";
}

// Where the handler, which may do next to nothing, leaves its word for the thread that acts on it.
volatile std::sig_atomic_t signals_seen = 0;
int signal_pipe_write = -1;

extern "C" void note_signal(int signal) {
  if (signals_seen != 0) ::_exit(128 + signal);
  signals_seen = 1;
  const int kept = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto told = ::write(signal_pipe_write, &byte, 1);
  errno = kept;
}

/// Calls `act` in a thread of its own when a signal comes that would have ended this process, again
/// and again until it is destroyed.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void(int)> act) : act_(std::move(act)) {
    if (::pipe(pipe_.data()) != 0) {
      throw Error(ErrorKind::environment, "no pipe could be made for the signals of this process");
    }
    signal_pipe_write = pipe_[1];
    signals_seen = 0;
    struct sigaction handler{};
    handler.sa_handler = note_signal;
    ::sigemptyset(&handler.sa_mask);
    handler.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], nullptr, &before_[i]);
      // One that is ignored (nohup) stays so.
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(passed_on[i], &handler, nullptr);
    }
    thread_ = std::thread([this] { watch(); });
  }
  ~SignalWatch() { static_cast<void>(finish()); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Ends the watch, when what it is doing is done. The signal that came, 0 if none.
  [[nodiscard]] int finish() {
    if (!thread_.joinable()) return signal_;
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      ::sigaction(passed_on[i], &before_[i], nullptr);
    }
    done_ = true;
    const unsigned char nothing = 0;
    [[maybe_unused]] const auto told = ::write(pipe_[1], &nothing, 1);
    thread_.join();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
    return signal_;
  }

 private:
  void watch() {
    unsigned char byte = 0;
    while (::read(pipe_[0], &byte, 1) < 0 && errno == EINTR) {
    }
    signal_ = byte;
    if (signal_ == 0) return;
    // The program may only be starting: it is told until it has ended.
    do {
      act_(signal_);
      pollfd more{pipe_[0], POLLIN, 0};
      ::poll(&more, 1, 300);
    } while (!done_);
  }

  std::function<void(int)> act_;
  std::array<int, 2> pipe_{};
  std::array<struct sigaction, passed_on.size()> before_{};
  std::atomic<bool> done_{false};
  std::atomic<int> signal_{0};
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace

int Transport::run_program(const std::vector<std::string>& words) const {
  // The name of the private directory is like no other's on this machine.
  const std::string mark =
      sha256_hex(connection_->path().string() + "\n" + host_ + "\n" + std::to_string(::getpid()))
          .substr(0, 32);
  std::vector<std::string> remote = {"sh", "-c", run_script, "teeny", mark};
  remote.insert(remote.end(), words.begin(), words.end());
  Command command{words_with({host_, shell_command(remote)})};
  command.inherit_input = true;
  command.capture_output = false;
  command.capture_error = false;
  SignalWatch watch([&](int caught) {
    try {
      static_cast<void>(
          require_script("ending the program", signal_script, {mark, signal_name(caught)}));
    } catch (const Error& error) {
      log(LogLevel::warning, error.message());
    }
  });
  const auto result = run(command);
  const int signal = watch.finish();
  if (signal != 0 && result.exit_code == 255) return 128 + signal;
  // ssh's own failures have this code too. A connection that still works did not fail.
  if (result.exit_code == 255) static_cast<void>(require_script("running the program", ":", {}));
  return result.exit_code;
}

}  // namespace teeny::tool
