#include "compiler/server.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "compiler/identity.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/wire.hpp"
#include "teeny/ir/text.hpp"

namespace teeny::compiler {
namespace {

Error as_error(const std::exception& problem) {
  if (const auto* error = dynamic_cast<const Error*>(&problem)) return *error;
  return Error(ErrorKind::internal, std::string("teenyc failed: ") + problem.what());
}

/// The reply to one request, as a frame.
std::string answer(const Frame& request, const CompileFunction& compile,
                   const AssembleFunction& assemble) {
  try {
    const auto begin = std::chrono::steady_clock::now();
    Artifact artifact;
    if (request_name(request.header) == "assemble") {
      artifact = assemble(parse_assemble_request(request.header), request.body);
    } else {
      const Target target = Target::parse_canonical(parse_compile_request(request.header));
      artifact = compile(ir::parse(request.body), target);
    }
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    artifact.info.compile_ms = taken.count();
    return encode_frame(reply_header(artifact.info), artifact.code);
  } catch (const std::exception& problem) {
    return encode_frame(reply_header(as_error(problem)), {});
  }
}

void check_hello(const Frame& frame) {
  const Hello hello = parse_hello(frame.header);
  if (hello.protocol != protocol_version) {
    throw Error(ErrorKind::environment,
                "the program speaks protocol " + std::to_string(hello.protocol) +
                    ", this teenyc protocol " + std::to_string(protocol_version),
                "use the teenyc of the teeny that the program was built with");
  }
  if (!hello.identity.empty() && hello.identity != compiler_identity) {
    throw Error(
        ErrorKind::environment,
        "the program expects teenyc " + hello.identity + ", this one is " + compiler_identity,
        "install teenyc and the file teenyc.identity beside it together");
  }
}

}  // namespace

int serve(int input, int output, const CompileFunction& compile, const AssembleFunction& assemble) {
  // A client that goes away is noticed by the write that fails.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    write_frame(output, hello_header({protocol_version, compiler_identity}), {});
    const auto hello = read_frame(input);
    if (!hello) return 0;
    try {
      check_hello(*hello);
    } catch (const Error& error) {
      write_frame(output, reply_header(error), {});
      throw;
    }
    while (const auto request = read_frame(input)) {
      const std::string reply = answer(*request, compile, assemble);
      write_bytes(output, reply);
    }
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "teenyc: %s\n", problem.what());
    return 1;
  }
}

int reserve_stdout() {
  std::fflush(stdout);
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw Error(ErrorKind::environment,
                std::string("cannot set standard output aside: ") + std::strerror(errno));
  }
  return output;
}

}  // namespace teeny::compiler
