#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <stdlib.h>
#include <sys/wait.h>

#include "compiler_timeout.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/cache/wire.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

using Clock = std::chrono::steady_clock;
using Worker = std::unique_ptr<PipedProcess>;

Worker start(const fs::path& program) {
  Command command;
  command.argv = {program.string(), "--serve"};
  return std::make_unique<PipedProcess>(command);
}

// Whether the child has ended, without taking its end away from the one who will wait for it.
bool has_ended(const PipedProcess& process) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOHANG | WNOWAIT) ==
             0 &&
         info.si_pid != 0;
}

std::optional<Frame> receive(PipedProcess& process, Clock::time_point deadline) {
  const auto prefix = process.read(frame_prefix_bytes, deadline);
  if (!prefix) return std::nullopt;
  const FrameSizes sizes = decode_frame_sizes(*prefix);
  auto header = process.read(sizes.header, deadline);
  if (!header) return std::nullopt;
  auto body = process.read(static_cast<std::size_t>(sizes.body), deadline);
  if (!body) return std::nullopt;
  return Frame{std::move(*header), std::move(*body)};
}

std::string signal_name(int signal) {
  // sigabbrev_np is newer than the oldest C library that this runs with.
  switch (signal) {
    case SIGABRT:
      return "SIGABRT (it aborted)";
    case SIGSEGV:
      return "SIGSEGV (it crashed)";
    case SIGBUS:
      return "SIGBUS (it crashed)";
    case SIGILL:
      return "SIGILL (it crashed)";
    case SIGFPE:
      return "SIGFPE (it crashed)";
    case SIGKILL:
      return "SIGKILL (killed, perhaps for want of memory)";
    case SIGTERM:
      return "SIGTERM";
    case SIGTRAP:
      return "SIGTRAP";
    default:
      return "signal " + std::to_string(signal);
  }
}

std::string tail(std::string_view text) {
  constexpr std::size_t most = 2000;
  text = trim(text);
  if (text.size() > most) text = text.substr(text.size() - most);
  return std::string(text);
}

// A file that stays behind for the report, in a directory of its own that nobody else can write to.
fs::path keep(const std::string& file, std::string_view text) {
  const char* configured = std::getenv("TMPDIR");
  const fs::path base = configured != nullptr && *configured != '\0' ? configured : "/tmp";
  std::string pattern = (fs::absolute(base) / "teenyc-failure-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorKind::environment, "cannot create a directory in " + base.string() + ": " +
                                            std::generic_category().message(errno));
  }
  const fs::path path = fs::path(pattern) / file;
  write_file(path, text);
  return path;
}

}  // namespace

namespace detail {

std::chrono::milliseconds compiler_timeout() {
  constexpr std::chrono::seconds usual{60};
  const char* text = std::getenv("TEENYC_TIMEOUT");
  if (text == nullptr || *text == '\0') return usual;
  const auto seconds = parse_unsigned(text);
  constexpr unsigned long long most = 86400;
  if (!seconds || *seconds == 0 || *seconds > most) {
    throw Error(ErrorKind::usage,
                "TEENYC_TIMEOUT=" + std::string(text) + ": wanted whole seconds from 1 to " +
                    std::to_string(most) + ", found \"" + text + "\"",
                "unset it for the usual 60");
  }
  return std::chrono::seconds(*seconds);
}

}  // namespace detail

struct CompilerPool::State {
  std::mutex mutex;
  std::condition_variable freed;
  std::vector<Worker> idle;
  int running = 0;  // idle ones included
  int limit = 0;

  // An idle worker, or an empty place to put a new one.
  Worker take() {
    std::unique_lock lock(mutex);
    for (;;) {
      while (!idle.empty()) {
        Worker worker = std::move(idle.back());
        idle.pop_back();
        // One that was killed while nobody looked is no fault of the kernel that comes next.
        if (!has_ended(*worker)) return worker;
        --running;
      }
      if (running < limit) {
        ++running;
        return nullptr;
      }
      freed.wait(lock);
    }
  }
  void give_back(Worker worker) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(worker));
    freed.notify_one();
  }
  void lose() {
    const std::lock_guard lock(mutex);
    --running;
    freed.notify_one();
  }
};

struct CompilerPool::Job {
  std::string kernel;
  std::string what;     // "compiling kernel K for sm_87"
  std::string request;  // a frame
  std::chrono::milliseconds patience;
  std::string kept_name;  // the kernel's text, for a report
  std::string kept_what;  // "IR"
  std::string_view text;
  // What an assembler cannot take was written by teenyc: it is worth a report, while IR that teenyc
  // refuses is the user's own.
  bool keep_refused;
};

namespace {

// Where the text that the compiler could not deal with can be found.
std::string kept(const std::string& name, const std::string& what, std::string_view text) {
  try {
    return "the kernel's " + what + " is kept for a report in " + keep(name, text).string();
  } catch (const Error& error) {
    return "its " + what + " could not be kept: " + error.message();
  }
}

// Ends a worker that failed and says how it went.
template <class Job>
Error failed(Worker worker, const fs::path& program, const Job& job, bool late, bool replied,
             const std::string& detail_text) {
  if (late || replied) worker->kill();
  const ProcessResult end = worker->wait();
  std::string how;
  if (late) {
    how = "did not answer within " + std::to_string(job.patience.count() / 1000) +
          " s and was stopped";
  } else if (replied) {
    how = "answered what is not its protocol: " + detail_text;
  } else if (end.signal != 0) {
    how = "ended by " + signal_name(end.signal);
  } else {
    how = "ended by itself with exit code " + std::to_string(end.exit_code);
  }
  std::string message = job.what + ": " + program.string() + " " + how;
  if (const std::string said = tail(end.error); !said.empty()) {
    message += "\nthe last it said:\n  ";
    for (const char c : said) {
      message.push_back(c);
      if (c == '\n') message += "  ";
    }
  }
  std::string next = kept(job.kept_name, job.kept_what, job.text);
  if (late) next += "\na longer wait: TEENYC_TIMEOUT=<seconds>";
  return Error(ErrorKind::internal, message, next);
}

void greet(PipedProcess& process, const CompilerLocation& location, Clock::time_point deadline,
           bool& heard) {
  static_cast<void>(process.write(
      encode_frame(hello_header(Hello{protocol_version, location.identity}), {}), deadline));
  const auto frame = receive(process, deadline);
  if (!frame) return;
  heard = true;
  const Hello hello = parse_hello(frame->header);
  if (hello.protocol != protocol_version) {
    throw Error(ErrorKind::environment,
                location.program.string() + ": wanted protocol " +
                    std::to_string(protocol_version) + ", found " + std::to_string(hello.protocol),
                "use the teenyc that was built with this program's teeny (TEENYC_PATH)");
  }
  if (hello.identity != location.identity) {
    throw Error(ErrorKind::environment,
                location.program.string() + ": its .identity file says " + location.identity +
                    ", the program itself says " + hello.identity,
                "build or install teenyc again, whole, with the .identity file that goes with it");
  }
}

}  // namespace

CompilerPool::CompilerPool(CompilerLocation location, int limit)
    : location_(std::move(location)), state_(std::make_unique<State>()) {
  state_->limit =
      limit > 0 ? limit : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

CompilerPool::~CompilerPool() = default;

Artifact CompilerPool::compile(const ir::Kernel& kernel, const std::string& fingerprint,
                               const Target& target) {
  const std::string text = ir::print(kernel);
  Artifact artifact =
      exchange({kernel.name, "compiling kernel " + kernel.name + " for " + target.short_name(),
                encode_frame(compile_request_header(target.canonical()), text),
                detail::compiler_timeout(), kernel.name + ".tir", "IR", text, false});
  artifact.info.fingerprint = fingerprint;
  artifact.info.key =
      artifact_key(fingerprint, target, location_.identity, artifact.info.assembler);
  return artifact;
}

Artifact CompilerPool::assemble(const Artifact& ptx, const fs::path& program,
                                AssemblerVersion version) {
  // teenyc stops an assembler that takes too long, and then has still to say so.
  constexpr std::chrono::seconds to_answer{5};
  const auto patience = detail::compiler_timeout();
  const std::string& kernel = ptx.info.kernel;
  const AssembleRequest request{ptx.info, program, version, patience};
  Artifact artifact = exchange({kernel, "assembling kernel " + kernel + " with " + program.string(),
                                encode_frame(assemble_request_header(request), ptx.code),
                                patience + to_answer, kernel + ".ptx", "PTX", ptx.code, true});
  artifact.info.fingerprint = ptx.info.fingerprint;
  return artifact;
}

Artifact CompilerPool::exchange(const Job& job) {
  Worker worker = state_->take();
  const auto began = Clock::now();
  const auto deadline = began + job.patience;
  std::optional<Frame> reply;
  std::optional<ArtifactInfo> info;
  std::string protocol_error;
  try {
    bool ready = worker != nullptr;
    if (!ready) {
      worker = start(location_.program);
      greet(*worker, location_, deadline, ready);
    }
    // A write that fails is not the news; how the child ended is.
    if (ready && worker->write(job.request, deadline)) reply = receive(*worker, deadline);
    if (reply) info = parse_reply(reply->header);
  } catch (const ProtocolError& error) {
    protocol_error = error.message();
  } catch (const Error& error) {
    // teenyc itself refused the kernel: it lives on and takes the next. Anything before a reply (no
    // such program, wrong identity) speaks for itself.
    if (!reply) {
      state_->lose();
      throw;
    }
    state_->give_back(std::move(worker));
    if (!job.keep_refused) throw;
    throw Error(error.kind(), error.message(),
                kept(job.kept_name, job.kept_what, job.text) +
                    (error.next().empty() ? "" : "\n" + error.next()),
                error.exit_code());
  }
  if (!info) {
    const bool late = protocol_error.empty() && Clock::now() >= deadline;
    Error error = failed(std::move(worker), location_.program, job, late, !protocol_error.empty(),
                         protocol_error);
    state_->lose();
    throw error;
  }
  state_->give_back(std::move(worker));
  Artifact artifact{std::move(*info), std::move(reply->body)};
  artifact.info.kernel = job.kernel;
  artifact.info.compiler = location_.identity;
  artifact.info.compile_ms =
      std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  return artifact;
}

}  // namespace teeny
