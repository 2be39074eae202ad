#include "tool/doctor/diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* debian = "Debian and Ubuntu: apt-get install ";

// The first line of what `program --version` says; empty when it says nothing in time.
std::string version_line(const fs::path& program) {
  Command command{{program.string(), "--version"}};
  command.timeout = std::chrono::seconds(10);
  try {
    const ProcessResult result = run(command);
    if (result.exit_code != 0) return {};
    const std::string text = result.output.empty() ? result.error : result.output;
    return text.substr(0, text.find('\n'));
  } catch (const Error&) {
    return {};
  }
}

// The first of these programs that is there.
ToolRow tool(const std::string& usage, const std::vector<std::string>& names, bool needed) {
  ToolRow row{names.front(), usage};
  row.needed = needed;
  for (const auto& name : names) {
    if (const auto program = find_program(name)) {
      row.name = name;
      row.program = *program;
      row.version = version_line(*program);
      break;
    }
  }
  return row;
}

AssemblerRow row_of(const Assembler& assembler) {
  AssemblerRow row{assembler, highest_ptx(assembler.version), {}, {}, {}, {}};
  if (const auto* info = find_assembler_info(assembler.version)) {
    row.oldest_driver = info->oldest_driver;
  }
  std::set<int> abis;
  for (const auto& chip : known_capabilities()) {
    if (!assembles(assembler.version, chip.capability, chip.ptx_floor)) continue;
    row.capabilities.push_back(chip.capability.name());
    abis.insert(elf_abi(assembler.version, chip.capability)->version);
  }
  row.elf_abis.assign(abis.begin(), abis.end());
  return row;
}

}  // namespace

void diagnose_assemblers(const FoundAssemblers& found, const std::vector<Board>& boards,
                         Diagnosis& diagnosis) {
  std::vector<AssemblerVersion> versions;
  for (const auto& assembler : found.usable) {
    versions.push_back(assembler.version);
    diagnosis.assemblers.push_back(row_of(assembler));
  }
  diagnosis.unusable = found.unusable;
  for (const auto& board : boards) {
    if (!board.capability) continue;
    for (const auto& generation : board.generations) {
      if (!generation.driver) continue;
      const std::string name = board.name + "@" + generation.name;
      if (const auto chosen =
              choose_assembler(versions, *generation.driver, *board.capability, std::nullopt)) {
        diagnosis.assemblers.at(*chosen).boards.push_back(name);
        continue;
      }
      diagnosis.problems.push_back(
          {"machine code for " + name + " (" + board.capability->name() + ", driver " +
               generation.driver->name() + ") wants " +
               wanted_assembler(*generation.driver, *board.capability, std::nullopt)
                   .value_or("an assembler that teeny does not know of"),
           "teeny install-toolchain, or let TEENY_PTXAS name one"});
    }
  }
}

void diagnose_tools(const std::vector<Board>& boards, Diagnosis& diagnosis) {
  const auto add = [&diagnosis](ToolRow row, const std::string& next) {
    if (row.needed && !row.program) {
      diagnosis.problems.push_back({row.name + " is missing: it is needed " + row.usage, next});
    }
    diagnosis.tools.push_back(std::move(row));
  };
  add(tool("to build projects", {"cmake"}, true), std::string(debian) + "cmake");
  add(tool("to build projects", {"ninja", "make"}, true), std::string(debian) + "ninja-build");
  add(tool("to build for this machine", {"c++", "g++", "clang++"}, true),
      std::string(debian) + "g++");
  std::set<std::string> triples;
  for (const auto& board : boards) triples.insert(board.triple);
  const std::string own = host_cpu_target().triple;
  for (const auto& triple : triples) {
    if (triple == own) continue;
    add(tool("to build for " + triple, {triple + "-g++"}, true),
        std::string(debian) + "g++-" + triple);
  }
  add(tool("to deploy", {"ssh"}, false), std::string(debian) + "openssh-client");
  add(tool("to fetch assemblers", {"python3"}, false), std::string(debian) + "python3");
  add(tool("to run a board's programs here", {"qemu-aarch64", "qemu-aarch64-static"}, false),
      std::string(debian) + "qemu-user");
}

void diagnose_compiler(Diagnosis& diagnosis) {
  try {
    const fs::path program = teenyc_path();
    const std::string identity(trim(read_file(program.string() + ".identity")));
    diagnosis.compiler = CompilerRow{program, version_line(program), identity};
  } catch (const Error& error) {
    diagnosis.problems.push_back({error.message(), error.next()});
  }
}

}  // namespace teeny::tool
