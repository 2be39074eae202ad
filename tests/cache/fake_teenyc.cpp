// A stand-in for teenyc: the same protocol, but its "code" is a marker text (or the file that
// FAKE_CODE names). It takes its identity from the .identity file beside it and writes a line to
// FAKE_LOG for each start and each kernel. FAKE_FAULT=<what>:<kernel name> makes it misbehave for
// that kernel, or, for "assemble NAME", when it is to assemble that kernel.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <elf.h>
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

// A header such as the assembler of that version writes, and behind it what a test may look for.
std::string machine_code_for(const AssembleRequest& request) {
  const ElfAbi abi = elf_abi(request.version, *request.ptx.capability).value();
  const auto number = static_cast<unsigned>(request.ptx.capability->number());
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = static_cast<unsigned char>(abi.os);
  header.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(abi.version);
  header.e_type = ET_EXEC;
  header.e_machine = 190;
  header.e_version = EV_CURRENT;
  header.e_flags = abi.version >= 8 ? number << 8 | 0x6000000 : number << 16 | 0x500 | number;
  header.e_ehsize = sizeof header;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  std::string code(sizeof header + sizeof(Elf64_Shdr), '\0');
  std::memcpy(code.data(), &header, sizeof header);
  return code + "machine code of " + request.ptx.kernel + " by " + assembler_name(request.version);
}

Artifact assembled(const AssembleRequest& request) {
  Artifact artifact{request.ptx, machine_code_for(request)};
  artifact.info.kind = ArtifactKind::cubin;
  artifact.info.assembler = assembler_name(request.version);
  artifact.info.elf_abi = elf_abi(request.version, *request.ptx.capability)->version;
  artifact.info.registers = 16;
  artifact.info.spill_bytes = 0;
  return artifact;
}

void serve(const std::string& identity) {
  note("start");
  if (!read_frame(STDIN_FILENO)) return;
  write_frame(STDOUT_FILENO, hello_header({protocol_version, identity}), {});
  while (const auto frame = read_frame(STDIN_FILENO)) {
    try {
      if (request_name(frame->header) == "assemble") {
        const AssembleRequest request = parse_assemble_request(frame->header);
        note("assemble " + request.ptx.kernel);
        misbehave("assemble " + request.ptx.kernel);
        const Artifact artifact = assembled(request);
        write_frame(STDOUT_FILENO, reply_header(artifact.info), artifact.code);
        continue;
      }
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
