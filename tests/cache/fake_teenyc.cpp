// A stand-in for teenyc: the same protocol, but its "code" is a marker text (or the file that
// FAKE_CODE names). It takes its identity from the .identity file beside it and writes a line to
// FAKE_LOG for each start and each kernel. FAKE_FAULT=<what>:<kernel name> makes it misbehave for
// that kernel.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/wire.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"

namespace {

using namespace teeny;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void note(const std::string& line) {
  const std::string file = variable("FAKE_LOG");
  if (file.empty()) return;
  const int log = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const std::string text = line + " " + std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const auto written = ::write(log, text.data(), text.size());
  ::close(log);
}

void misbehave(const std::string& kernel) {
  const std::string fault = variable("FAKE_FAULT");
  const auto colon = fault.find(':');
  if (colon == std::string::npos || fault.substr(colon + 1) != kernel) return;
  const std::string what = fault.substr(0, colon);
  std::fprintf(stderr, "about to %s\n", what.c_str());
  if (what == "abort") std::abort();
  if (what == "crash") {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit code of it
    ::raise(SIGSEGV);
  }
  if (what == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (what == "exit") std::exit(7);
  if (what == "garbage") {
    std::fputs("LLVM ERROR: this is no frame, and long enough to be taken for one\n", stdout);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (what == "header") write_frame(STDOUT_FILENO, "no header of any reply", {});
  if (what == "refuse")
    throw Error(ErrorKind::input, "kernel " + kernel + " is refused", "change it");
}

std::string parameters_of(const ir::Kernel& kernel) {
  std::string text;
  for (const ir::Type& type : kernel.parameters()) {
    const int bits = type.pointer ? 64 : 8 * size_of(type.dtype);
    text += (text.empty() ? ".param .b" : ", .param .b") + std::to_string(bits) + " p";
  }
  return text;
}

std::string code_for(const ir::Kernel& kernel, const Target& target) {
  const std::string file = variable("FAKE_CODE");
  if (target.is_cpu() && !file.empty()) return read_file(file);
  const std::string marker = "code of " + kernel.name + " for " + target.canonical();
  if (target.is_cuda()) {
    const CudaTarget& cuda = target.cuda();
    const PtxVersion version =
        cuda.ptx_version.value_or(find_capability(cuda.capability)->ptx_floor);
    return "//\n// " + marker + "\n.version " + version.name() + "\n.target " +
           cuda.capability.name() + "\n.address_size 64\n.visible .entry " + kernel.name + "(" +
           parameters_of(kernel) + ")\n{\n}\n";
  }
  return std::string(
             "\x7f"
             "ELF") +
         marker;
}

ArtifactInfo describe(const ir::Kernel& kernel, const Target& target) {
  ArtifactInfo info;
  info.kernel = kernel.name;
  info.fingerprint = ir::fingerprint(kernel);
  info.target = target.canonical();
  info.launch_abi = ir::launch_abi;
  for (const ir::Type& type : kernel.parameters()) info.parameters.push_back(ir::to_string(type));
  if (target.is_cpu()) {
    info.kind = ArtifactKind::shared_object;
    info.threads = 1;
    info.scratch_bytes = 4096;
    return info;
  }
  info.threads = 32 * kernel.options.num_warps;
  info.capability = target.cuda().capability;
  info.ptx_version =
      target.cuda().ptx_version.value_or(find_capability(target.cuda().capability)->ptx_floor);
  return info;
}

void serve(const std::string& identity) {
  note("start");
  if (!read_frame(STDIN_FILENO)) return;
  write_frame(STDOUT_FILENO, hello_header({protocol_version, identity}), {});
  while (const auto frame = read_frame(STDIN_FILENO)) {
    try {
      const Target target = Target::parse_canonical(parse_compile_request(frame->header));
      const ir::Kernel kernel = ir::parse(frame->body);
      note("compile " + kernel.name);
      misbehave(kernel.name);
      if (const std::string delay = variable("FAKE_DELAY_MS"); !delay.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(delay)));
      }
      write_frame(STDOUT_FILENO, reply_header(describe(kernel, target)), code_for(kernel, target));
    } catch (const Error& error) {
      write_frame(STDOUT_FILENO, reply_header(error), {});
    }
  }
}

}  // namespace

int main(int, char** argv) {
  std::string identity = variable("FAKE_IDENTITY");
  if (identity.empty()) identity = trim(read_file(std::string(argv[0]) + ".identity"));
  serve(identity);
  return 0;
}
