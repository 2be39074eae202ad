#include "teeny/base/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.hpp"
#include "spawn.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny {

using detail::append_available;
using detail::Descriptor;
using detail::ReadState;
using detail::reason;
using detail::SigpipeBlock;
using detail::Spawned;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

void set_end(ProcessResult& result, int status) {
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.exit_code = 128 + result.signal;
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
}

// The wait status once the child has ended, else nullopt. `block` waits for it.
std::optional<int> reap(int pid, bool block) {
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(pid, &status, block ? 0 : WNOHANG);
    if (ended == pid) return status;
    if (ended == 0) return std::nullopt;
    if (errno == EINTR) continue;
    throw Error(ErrorKind::internal,
                "cannot wait for process " + std::to_string(pid) + ": " + reason(errno));
  }
}

int poll_milliseconds(Clock::time_point now, Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - now).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1000));
}

// Writes what the pipe takes; closes it when all is written or nobody reads any more.
void feed(Descriptor& pipe, std::string_view& rest) {
  const SigpipeBlock no_signal;
  while (!rest.empty()) {
    const ssize_t count = ::write(pipe.get(), rest.data(), rest.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pipe.close();
}

}  // namespace

ProcessResult run(const Command& command) {
  const bool own_group = command.timeout.has_value() && !command.inherit_input;
  Spawned child = detail::spawn(command, command.input.has_value(), own_group);
  ProcessResult result;
  std::string_view rest = command.input ? std::string_view(*command.input) : std::string_view();
  if (child.in.open() && rest.empty()) child.in.close();
  const auto deadline =
      command.timeout ? Clock::now() + *command.timeout : Clock::time_point::max();
  // Descendants that outlive the child may keep its pipes open (ssh's connection sharing does):
  // once the child has ended, what is already written is read, and this much is waited for more.
  constexpr milliseconds grace{250};
  constexpr milliseconds look_interval{20};
  std::optional<int> status;
  auto drained_by = Clock::time_point::max();
  while (child.out.open() || child.err.open() || child.in.open()) {
    const auto now = Clock::now();
    if (!status) {
      status = reap(child.pid, false);
      if (status) {
        drained_by = now + grace;
        child.in.close();
        continue;
      }
    }
    if (!status && now >= deadline) {
      result.timed_out = true;
      detail::kill_process(child.pid, own_group);
      status = reap(child.pid, true);
      drained_by = Clock::now() + grace;
      child.in.close();
      continue;
    }
    if (now >= drained_by) break;
    pollfd polled[3];
    nfds_t count = 0;
    for (Descriptor* pipe : {&child.out, &child.err, &child.in}) {
      if (!pipe->open()) continue;
      polled[count++] = {pipe->get(), static_cast<short>(pipe == &child.in ? POLLOUT : POLLIN), 0};
    }
    const auto until = std::min({deadline, drained_by, now + look_interval});
    if (::poll(polled, count, poll_milliseconds(now, until)) < 0 && errno != EINTR) {
      throw Error(ErrorKind::internal, "cannot wait for a child's output: " + reason(errno));
    }
    if (append_available(child.out, result.output) == ReadState::end) child.out.close();
    if (append_available(child.err, result.error) == ReadState::end) child.err.close();
    if (child.in.open()) feed(child.in, rest);
  }
  append_available(child.out, result.output);
  append_available(child.err, result.error);
  milliseconds pause{1};
  while (!status) {
    if (!command.timeout) {
      status = reap(child.pid, true);
    } else if ((status = reap(child.pid, false))) {
      break;
    } else if (Clock::now() >= deadline) {
      result.timed_out = true;
      detail::kill_process(child.pid, own_group);
      status = reap(child.pid, true);
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, look_interval);
    }
  }
  set_end(result, *status);
  return result;
}

std::string display(const std::vector<std::string>& argv) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string text;
  for (const auto& word : argv) {
    if (!text.empty() || &word != &argv.front()) text.push_back(' ');
    // A first word with = in it would read as an assignment.
    const bool assignment = &word == &argv.front() && word.find('=') != std::string::npos;
    if (!word.empty() && !assignment && word.find_first_not_of(plain) == std::string::npos) {
      text.append(word);
      continue;
    }
    text.push_back('\'');
    for (const char c : word) {
      if (c == '\'') {
        text.append("'\\''");
      } else {
        text.push_back(c);
      }
    }
    text.push_back('\'');
  }
  return text;
}

std::optional<fs::path> find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  return detail::find_on_path(name, path != nullptr ? path : detail::default_path);
}

PipedProcess::PipedProcess(const Command& command) {
  Spawned child = detail::spawn(command, true, true, true);
  pid_ = child.pid;
  in_ = child.in.release();
  out_ = child.out.release();
  err_ = child.err.release();
}

PipedProcess::~PipedProcess() {
  for (int* descriptor : {&in_, &out_}) Descriptor{std::exchange(*descriptor, -1)};
  try {
    const auto deadline = Clock::now() + milliseconds{500};
    milliseconds pause{1};
    while (!reaped_ && Clock::now() < deadline) {
      drain_error();
      if (reap(pid_, false)) {
        reaped_ = true;
        break;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, milliseconds{20});
    }
    if (!reaped_) {
      kill();
      static_cast<void>(reap(pid_, true));
    }
  } catch (...) {
    // Nobody is left to tell; the child is gone or was never ours to wait for.
  }
  Descriptor{std::exchange(err_, -1)};
}

void PipedProcess::drain_error() {
  if (err_ < 0) return;
  constexpr std::size_t kept = std::size_t{64} * 1024;
  Descriptor pipe(err_);
  const ReadState state = append_available(pipe, error_);
  if (state == ReadState::end) {
    pipe.close();
    err_ = -1;
  } else {
    err_ = pipe.release();
  }
  if (error_.size() > kept) error_.erase(0, error_.size() - kept);
}

bool PipedProcess::write(std::string_view bytes, Deadline deadline) {
  if (in_ < 0) return false;
  while (!bytes.empty()) {
    ssize_t count = 0;
    int failure = 0;
    {
      const SigpipeBlock no_signal;
      count = ::write(in_, bytes.data(), bytes.size());
      failure = errno;
    }
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (failure == EINTR) continue;
    if (failure != EAGAIN && failure != EWOULDBLOCK) return false;
    drain_error();
    const auto now = Clock::now();
    if (now >= deadline) return false;
    // A negative descriptor is ignored by poll.
    pollfd polled[2] = {{in_, POLLOUT, 0}, {err_, POLLIN, 0}};
    ::poll(polled, 2, poll_milliseconds(now, deadline));
  }
  return true;
}

std::optional<std::string> PipedProcess::read(std::size_t count, Deadline deadline) {
  if (out_ < 0) return std::nullopt;
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got = ::read(out_, bytes.data() + have, count - have);
    if (got > 0) {
      have += static_cast<std::size_t>(got);
      continue;
    }
    if (got == 0) {
      drain_error();
      return std::nullopt;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return std::nullopt;
    drain_error();
    const auto now = Clock::now();
    if (now >= deadline) return std::nullopt;
    pollfd polled[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    ::poll(polled, 2, poll_milliseconds(now, deadline));
  }
  return bytes;
}

void PipedProcess::kill() {
  if (!reaped_ && pid_ > 0) detail::kill_process(pid_, true);
}

ProcessResult PipedProcess::wait() {
  ProcessResult result;
  if (reaped_) {
    throw Error(ErrorKind::internal, "a process was waited for twice");
  }
  Descriptor{std::exchange(in_, -1)};
  Descriptor out(std::exchange(out_, -1));
  std::optional<int> status;
  milliseconds pause{1};
  while (!status) {
    // Both pipes are read on, or a child with much to say would never end.
    if (append_available(out, result.output) == ReadState::end) out.close();
    drain_error();
    status = reap(pid_, false);
    if (status) break;
    pollfd polled[2] = {{out.get(), POLLIN, 0}, {err_, POLLIN, 0}};
    ::poll(polled, 2, static_cast<int>(pause.count()));
    pause = std::min(pause * 2, milliseconds{20});
  }
  reaped_ = true;
  append_available(out, result.output);
  drain_error();
  set_end(result, *status);
  result.error = error_;
  return result;
}

}  // namespace teeny
