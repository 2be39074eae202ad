#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/Config/llvm-config.h>
#include <unistd.h>

#include "compiler/compile.hpp"
#include "compiler/identity.hpp"
#include "compiler/server.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/wire.hpp"
#include "teeny/ir/text.hpp"

#ifdef TEENYC_FAULTY
#include "compiler/faulty.hpp"
#endif

namespace teeny::compiler {
namespace {

constexpr const char* help_text =
    R"(teenyc: compiles tile kernels (the intermediate form of teeny) for GPUs and CPUs.

  teenyc --serve       answers a teeny program over standard input and output
  teenyc compile FILE.tir --target TARGET -o OUT
                       compiles one kernel, for a person to look at; "-o -" prints it.
                       TARGET is the canonical form of a target, as an artifact records it.
  teenyc --identity    prints what decides whether two teenycs make the same code
  teenyc --version     prints the versions of protocol and LLVM
  teenyc --help        prints this

Programs find teenyc by themselves: through TEENYC_PATH, beside the program, or on PATH.
)";

Error usage(const std::string& what) { return Error(ErrorKind::usage, what, "see teenyc --help"); }

struct CompileArguments {
  std::string file;
  std::string target;
  std::string output;
};

CompileArguments parse_compile(const std::vector<std::string>& words) {
  std::optional<std::string> file;
  std::optional<std::string> target;
  std::optional<std::string> output;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::optional<std::string>* into = &file;
    std::string value = word;
    if (word == "--target" || word == "-o") {
      into = word == "-o" ? &output : &target;
      if (++i == words.size()) throw usage("teenyc compile: " + word + " needs a value");
      value = words[i];
    } else if (word.size() > 1 && word.front() == '-') {
      throw usage("teenyc compile: there is no option '" + word + "'");
    }
    if (into->has_value()) {
      throw usage("teenyc compile: '" + value +
                  "' is one too many; it takes one file, one --target" + " and one -o");
    }
    *into = value;
  }
  if (!file) throw usage("teenyc compile: no kernel file is given");
  if (!target) throw usage("teenyc compile: no --target is given");
  if (!output) throw usage("teenyc compile: no -o is given");
  return {*file, *target, *output};
}

int compile_file(const CompileArguments& arguments) {
  const Target target = [&] {
    try {
      return Target::parse_canonical(arguments.target);
    } catch (const Error& error) {
      throw usage("teenyc compile: --target: " + error.message());
    }
  }();
  const Artifact artifact = compile(ir::parse(read_file(arguments.file)), target);
  if (arguments.output == "-") {
    std::fwrite(artifact.code.data(), 1, artifact.code.size(), stdout);
  } else {
    write_file(arguments.output, artifact.code);
  }
  return 0;
}

int serve_client() {
  const int output = reserve_stdout();
  CompileFunction function = compile;
#ifdef TEENYC_FAULTY
  function = with_faults(std::move(function), output);
#endif
  return serve(STDIN_FILENO, output, function, assemble);
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) throw usage("teenyc: no command is given");
  if (words.front() == "compile")
    return compile_file(parse_compile({words.begin() + 1, words.end()}));
  if (words.size() > 1) throw usage("teenyc: '" + words[1] + "' is one word too many");
  const std::string& command = words.front();
  if (command == "--serve") return serve_client();
  if (command == "--identity") {
    std::printf("%s\n", compiler_identity);
  } else if (command == "--version") {
    std::printf("teenyc: protocol %d, intermediate form %d, LLVM %s\n", protocol_version,
                ir::ir_version, LLVM_VERSION_STRING);
  } else if (command == "--help" || command == "-h") {
    std::fputs(help_text, stdout);
  } else {
    throw usage("teenyc: there is no command '" + command + "'");
  }
  return 0;
}

}  // namespace
}  // namespace teeny::compiler

int main(int argc, char** argv) {
  try {
    return teeny::compiler::run({argv + 1, argv + argc});
  } catch (const teeny::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "teenyc: %s\n", error.what());
    return 1;
  }
}
