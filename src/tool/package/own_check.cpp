#include "tool/package/own_check.hpp"

#include <chrono>
#include <csignal>

#include "runtime/check.hpp"
#include "tool/package/elf.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/package.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

// Under emulation a check of a large package may take a while; a hang shall not.
constexpr std::chrono::minutes patience{5};

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string last_line(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  return std::string(trim(lines.back()));
}

// Whether the program came as far as its check; before that it is not the package that fails, but
// this machine: it has no such library, or its processor no such instruction.
bool began(const ProcessResult& result) {
  const std::string word = std::string(detail::check_word) + " ";
  return result.output.compare(0, word.size(), word) == 0 ||
         result.output.find("\n" + word) != std::string::npos;
}

std::string how_it_ended(const ProcessResult& result) {
  if (result.timed_out) {
    return "did not end within " + std::to_string(patience.count()) + " minutes";
  }
  if (result.signal != 0) return "was ended by signal " + std::to_string(result.signal);
  return "ended with exit code " + std::to_string(result.exit_code);
}

void not_run(const std::string& program, const std::string& why) {
  log(LogLevel::notice, program + "'s own check was not run: " + why);
}

}  // namespace

std::optional<ProgramStarter> find_starter(const fs::path& program, const Board& board,
                                           const fs::path& sysroot, std::string* why_none) {
  const std::string wanted = architecture_of(board);
  if (wanted == host_architecture()) return ProgramStarter{{}, "on this machine"};
  const std::string name = "qemu-" + wanted;
  auto emulator = find_program(name);
  if (!emulator) emulator = find_program(name + "-static");
  if (!emulator) {
    *why_none = "this machine is " + host_architecture() + ", the board " + wanted + ", and " +
                name + " is not on PATH";
    return std::nullopt;
  }
  ProgramStarter starter{{emulator->string()}, "under " + emulator->string()};
  const std::string loader = read_elf_file(program).interpreter;
  if (loader.empty()) return starter;  // it brings its libraries with it
  for (const fs::path& root : {sysroot, fs::path("/usr") / board.triple}) {
    if (root.empty() || !exists(root.string() + loader)) continue;
    starter.words.insert(starter.words.end(), {"-L", root.string()});
    return starter;
  }
  if (exists(loader)) return starter;
  *why_none = "there is no C library of " + wanted + " here (" + loader + " of the toolchain)";
  return std::nullopt;
}

void run_own_check(const fs::path& package, const std::string& program, const Board& board,
                   const fs::path& sysroot, std::vector<Finding>& findings) {
  const fs::path file = package / "bin" / program;
  std::string why;
  const auto starter = find_starter(file, board, sysroot, &why);
  if (!starter) return not_run(program, why);
  Command command{starter->words};
  command.argv.insert(command.argv.end(), {file.string(), "--check", "--board",
                                           (package / PackageContents::board_path).string()});
  command.clear_environment = true;
  command.timeout = patience;
  ProcessResult result;
  try {
    result = run(command);
  } catch (const Error& error) {
    return not_run(program, error.message());
  }
  if (!began(result) || result.signal == SIGILL) {
    const std::string said = last_line(result.error.empty() ? result.output : result.error);
    return not_run(program, starter->described + " it " + how_it_ended(result) +
                                (said.empty() ? "" : ": " + said));
  }
  if (result.exit_code == 0 && !result.timed_out) {
    log(LogLevel::notice,
        program + "'s own check, " + starter->described + ": " + last_line(result.output));
    return;
  }
  const bool told = result.signal == 0 && !result.timed_out;
  findings.push_back({told ? result.exit_code : 1,
                      program + "'s own check, " + starter->described + ", " +
                          how_it_ended(result) + ":\n" + std::string(trim(result.error)),
                      {}});
}

}  // namespace teeny::tool
