#include "compiler/assembler/assemble.hpp"

#include <algorithm>

#include "compiler/assembler/cubin.hpp"
#include "compiler/assembler/report.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace teeny::compiler {
namespace {

// ptxas's own levels go to 3, its default; ours stands for it from 2 on.
int assembler_level(int opt_level) { return opt_level >= 2 ? 3 : opt_level; }

std::string last_lines(std::string_view text) {
  constexpr std::size_t most = 2000;
  text = trim(text);
  return std::string(text.size() > most ? text.substr(text.size() - most) : text);
}

class Assembly {
 public:
  explicit Assembly(const AssembleRequest& request) : request_(request) {}

  [[nodiscard]] Error error(const std::string& how, std::string_view said = {}) const {
    std::string message = "kernel " + request_.ptx.kernel + " for " + capability().name() + ": " +
                          request_.assembler.string() + " (" + assembler_name(request_.version) +
                          ") " + how;
    if (const std::string lines = last_lines(said); !lines.empty()) message += "\n" + lines;
    return Error(ErrorKind::input, message,
                 "another assembler: TEENY_PTXAS; without machine code: machine-code=no");
  }

  [[nodiscard]] Capability capability() const {
    if (request_.ptx.capability) return *request_.ptx.capability;
    throw Error(ErrorKind::input, "PTX to be assembled does not say its capability");
  }

  void check_version() const {
    std::string why;
    const PtxVersion version = request_.ptx.ptx_version.value_or(PtxVersion{});
    if (!assembles(request_.version, capability(), version, &why)) throw error("cannot: " + why);
  }

  [[nodiscard]] ProcessResult run_in(const std::filesystem::path& directory) const {
    const Target target = Target::parse_canonical(request_.ptx.target);
    Command command;
    // Names without a directory: what the assembler puts into its output is the same anywhere.
    command.argv = {request_.assembler.string(),
                    "-v",
                    "-arch=" + capability().name(),
                    "-O" + std::to_string(assembler_level(target.cuda().opt_level)),
                    "-o",
                    "kernel.cubin",
                    "kernel.ptx"};
    command.directory = directory;
    command.clear_environment = true;
    command.environment = {{"PATH", "/usr/bin:/bin"}, {"TMPDIR", "."}, {"LC_ALL", "C"}};
    command.timeout = request_.limit;
    ProcessResult result;
    try {
      result = run(command);
    } catch (const Error& problem) {
      throw error("cannot be started: " + problem.message());
    }
    if (result.timed_out) {
      throw error("did not end within " + std::to_string(request_.limit.count() / 1000) +
                      " s and was stopped; a longer wait: TEENYC_TIMEOUT=<seconds>",
                  result.output + result.error);
    }
    if (result.exit_code != 0) {
      throw error(result.signal != 0 ? "ended by signal " + std::to_string(result.signal)
                                     : "ended with exit code " + std::to_string(result.exit_code),
                  result.output + result.error);
    }
    return result;
  }

  void check_code(const std::string& code, const ProcessResult& result) const {
    const auto header = read_cubin_header(code);
    if (!header) {
      throw error("wrote " + std::to_string(code.size()) + " bytes that are no machine code",
                  result.output + result.error);
    }
    if (header->capability != capability().number()) {
      throw error("wrote machine code of another capability, " +
                  std::to_string(header->capability));
    }
    const auto wanted = elf_abi(request_.version, capability());
    if (!wanted || header->abi == *wanted) return;
    throw error("wrote ELF ABI " + std::to_string(header->abi.version) + ", wanted " +
                std::to_string(wanted->version) + ", that of its version");
  }

 private:
  const AssembleRequest& request_;
};

}  // namespace

Artifact assemble(const AssembleRequest& request, std::string_view ptx) {
  const Assembly assembly(request);
  assembly.check_version();
  const TemporaryDirectory directory("teenyc-ptxas");
  write_file(directory.path() / "kernel.ptx", ptx);
  const ProcessResult result = assembly.run_in(directory.path());
  auto code = read_file_if_exists(directory.path() / "kernel.cubin");
  if (!code) throw assembly.error("wrote nothing", result.output + result.error);
  assembly.check_code(*code, result);

  Artifact artifact{request.ptx, std::move(*code)};
  ArtifactInfo& info = artifact.info;
  info.kind = ArtifactKind::cubin;
  info.key.clear();
  info.assembler = assembler_name(request.version);
  info.elf_abi = read_cubin_header(artifact.code)->abi.version;
  const AssemblerReport report = read_report(result.output + result.error, info.kernel);
  info.registers = report.registers;
  info.spill_bytes = report.spill_bytes;
  info.static_shared_bytes = report.static_shared_bytes;
  return artifact;
}

}  // namespace teeny::compiler
