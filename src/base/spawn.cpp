#include "spawn.hpp"

#include <array>
#include <cerrno>
#include <ctime>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

extern char** environ;  // NOLINT: POSIX asks the program to declare it

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

bool is_program(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Error cannot_start(const std::string& program, const std::string& why, std::string next = {}) {
  return Error(ErrorKind::environment, "cannot start " + display({program}) + ": " + why,
               std::move(next));
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Descriptors above the standard three: a caller may run with stdin, stdout or stderr closed, and
// a pipe in their place would be overwritten by the dup2 calls in the child.
Descriptor above_standard(int descriptor, const std::string& program) {
  Descriptor owned(descriptor);
  if (descriptor > STDERR_FILENO) return owned;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) throw cannot_start(program, reason(errno));
  return Descriptor(moved);
}

Pipe make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw cannot_start(program, reason(errno));
  Descriptor second(ends[1]);
  Pipe pipe;
  pipe.read = above_standard(ends[0], program);
  pipe.write = above_standard(second.release(), program);
  return pipe;
}

void make_nonblocking(const Descriptor& descriptor) noexcept {
  if (!descriptor.open()) return;
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  ::fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK);
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> entries;
  if (!command.clear_environment) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (command.environment.count(std::string(text.substr(0, text.find('=')))) == 0) {
        entries.emplace_back(text);
      }
    }
  }
  for (const auto& [key, value] : command.environment) entries.push_back(key + "=" + value);
  return entries;
}

std::string path_of(const std::vector<std::string>& environment) {
  for (const auto& entry : environment) {
    if (entry.rfind("PATH=", 0) == 0) return entry.substr(5);
  }
  return std::string(default_path);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// What the child tells us when it could not become the program.
struct StartFailure {
  enum Step : int { directory, program } step;
  int code;
};

// Everything the child needs after fork, prepared before it: between fork and exec only
// async-signal-safe calls are allowed, as other threads may have held any lock.
struct ChildPlan {
  const char* file;
  char* const* argv;
  char* const* environment;
  const char* directory;
  int streams[3];  // what becomes 0, 1 and 2; -1: stays as it is
  int report;
  bool own_group;
  const sigset_t* mask;
};

[[noreturn]] void become(const ChildPlan& plan) noexcept {
  StartFailure failure{StartFailure::program, 0};
  const auto give_up = [&] {
    failure.code = errno;
    [[maybe_unused]] const auto told = ::write(plan.report, &failure, sizeof failure);
    ::_exit(127);
  };
  if (plan.own_group) ::setpgid(0, 0);
  for (int stream = 0; stream < 3; ++stream) {
    if (plan.streams[stream] >= 0 && ::dup2(plan.streams[stream], stream) < 0) give_up();
  }
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) {
    failure.step = StartFailure::directory;
    give_up();
  }
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &standard, nullptr);
  ::sigprocmask(SIG_SETMASK, plan.mask, nullptr);
  ::execve(plan.file, plan.argv, plan.environment);
  give_up();
  ::_exit(127);
}

// fork with all signals blocked, so that no handler of ours runs in the child.
pid_t fork_quietly(const ChildPlan& plan_without_mask) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  ChildPlan plan = plan_without_mask;
  plan.mask = &before;
  const pid_t pid = ::fork();
  if (pid == 0) become(plan);
  const int failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = failure;
  return pid;
}

}  // namespace

std::optional<fs::path> find_on_path(std::string_view name, std::string_view path) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    if (is_program(fs::path(name))) return fs::path(name);
    return std::nullopt;
  }
  for (const auto& directory : split(path, ':')) {
    const fs::path candidate = fs::path(directory.empty() ? "." : directory) / name;
    if (is_program(candidate)) return candidate;
  }
  return std::nullopt;
}

Spawned spawn(const Command& command, bool pipe_input, bool own_group, bool all_pipes) {
  if (command.argv.empty() || command.argv.front().empty()) {
    throw Error(ErrorKind::internal, "asked to start a program without a name");
  }
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = environment_of(command);
  for (const auto* words : {&arguments, &environment}) {
    for (const auto& word : *words) {
      if (word.find('\0') != std::string::npos) {
        throw Error(ErrorKind::usage, "an argument of " + display({command.argv.front()}) +
                                          " holds a zero byte, which no program can be given");
      }
    }
  }
  const std::string& program = command.argv.front();
  std::string file = program;
  if (program.find('/') == std::string::npos) {
    const std::string path = path_of(environment);
    const auto found = find_on_path(program, path);
    if (!found) {
      throw cannot_start(program, "it is not on PATH (" + path + ")",
                         "install it, or add its directory to PATH");
    }
    // Relative entries of PATH mean our directory, not the child's.
    file = fs::absolute(*found).string();
  }

  Spawned child;
  Descriptor theirs[3];
  ChildPlan plan{};
  const std::string directory = command.directory.string();
  if (pipe_input) {
    Pipe pipe = make_pipe(program);
    child.in = std::move(pipe.write);
    theirs[0] = std::move(pipe.read);
  } else if (!command.inherit_input) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0) throw cannot_start(program, "/dev/null: " + reason(errno));
    theirs[0] = above_standard(null, program);
  }
  if (command.capture_output || all_pipes) {
    Pipe pipe = make_pipe(program);
    child.out = std::move(pipe.read);
    theirs[1] = std::move(pipe.write);
  } else if (command.output_to_error) {
    const int copy = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (copy < 0) throw cannot_start(program, "standard error: " + reason(errno));
    theirs[1] = Descriptor(copy);
  }
  if (command.capture_error || all_pipes) {
    Pipe pipe = make_pipe(program);
    child.err = std::move(pipe.read);
    theirs[2] = std::move(pipe.write);
  }
  Pipe report = make_pipe(program);
  for (int stream = 0; stream < 3; ++stream) plan.streams[stream] = theirs[stream].get();
  auto argument_pointers = pointers(arguments);
  auto environment_pointers = pointers(environment);
  plan.file = file.c_str();
  plan.argv = argument_pointers.data();
  plan.environment = environment_pointers.data();
  plan.directory = directory.empty() ? nullptr : directory.c_str();
  plan.report = report.write.get();
  plan.own_group = own_group;

  child.pid = fork_quietly(plan);
  if (child.pid < 0) throw cannot_start(program, reason(errno));
  // Also here: the group must exist before anyone could want to kill it.
  if (own_group) ::setpgid(child.pid, child.pid);
  report.write.close();
  StartFailure failure{};
  ssize_t count = 0;
  do {
    count = ::read(report.read.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof failure)) {
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (failure.step == StartFailure::directory) {
      throw cannot_start(program, "directory " + directory + ": " + reason(failure.code));
    }
    std::string next;
    if (failure.code == ENOENT && ::access(file.c_str(), F_OK) == 0) {
      next = "its interpreter or loader is missing on this machine";
    } else if (failure.code == ENOEXEC) {
      next = "it is built for another kind of machine, or is a script without #!";
    }
    throw cannot_start(program, reason(failure.code), next);
  }
  for (const Descriptor* ours : {&child.in, &child.out, &child.err}) make_nonblocking(*ours);
  return child;
}

void kill_process(int pid, bool group) noexcept {
  if (group) ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
}

ReadState append_available(const Descriptor& pipe, std::string& text) {
  if (!pipe.open()) return ReadState::end;
  std::array<char, 65536> buffer;
  // Bounded, so that a child that never stops writing cannot keep its caller from the clock; a
  // pipe holds no more than this.
  for (int piece = 0; piece < 16; ++piece) {
    const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ReadState::more;
    return ReadState::end;
  }
  return ReadState::more;
}

SigpipeBlock::SigpipeBlock() noexcept {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &only, &before_);
}

SigpipeBlock::~SigpipeBlock() {
  // A SIGPIPE raised meanwhile is taken here, unless one was already waiting for its owner.
  if (!was_pending_) {
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, SIGPIPE);
    const timespec at_once{0, 0};
    while (::sigtimedwait(&only, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace teeny::detail
