#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <variant>

#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/assembler_client.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

constexpr std::string_view variable_name = "TEENY_PTXAS";
constexpr std::string_view directory_prefix = "ptxas-";

// Its version, or why it has none.
using Answer = std::variant<AssemblerVersion, std::string>;

// "Cuda compilation tools, release 12.9, V12.9.86"
Answer version_in(const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    const auto at = line.rfind(" V");
    if (at == std::string::npos || line.find("release ") == std::string::npos) continue;
    if (const auto version = AssemblerVersion::parse(trim(std::string_view(line).substr(at + 2)))) {
      return *version;
    }
  }
  const std::string_view all = trim(text);
  return "wanted a version from --version, found " +
         (all.empty() ? "nothing" : "\"" + std::string(all.substr(0, all.find('\n'))) + "\"");
}

Answer ask(const fs::path& program) {
  Command command{{program.string(), "--version"}};
  command.timeout = std::chrono::seconds(10);
  try {
    const ProcessResult result = run(command);
    if (result.timed_out) return "did not answer --version within 10 s";
    if (result.exit_code != 0) {
      return "--version ended with exit code " + std::to_string(result.exit_code);
    }
    return version_in(result.output);
  } catch (const Error& error) {
    return error.message();
  }
}

// Asked once a process.
Answer answer_of(const fs::path& program) {
  static std::mutex mutex;
  static std::map<fs::path, Answer> answers;
  const std::lock_guard lock(mutex);
  const auto known = answers.find(program);
  if (known != answers.end()) return known->second;
  return answers.emplace(program, ask(program)).first->second;
}

bool can_be_run(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure) && ::access(path.c_str(), X_OK) == 0;
}

// Directories below `parent` whose names begin with `start`, the latest name first.
std::vector<fs::path> directories_of(const fs::path& parent, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator at(parent, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (name.compare(0, start.size(), start) == 0) found.push_back(at->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

class Search {
 public:
  /// `version`: as it is known without asking.
  void add(const fs::path& path, std::optional<AssemblerVersion> version = std::nullopt) {
    std::error_code failure;
    const fs::path program = fs::absolute(path);
    const fs::path real = fs::canonical(program, failure);
    if (failure || !can_be_run(real)) return;
    if (std::find(seen_.begin(), seen_.end(), real) != seen_.end()) return;
    seen_.push_back(real);
    const Answer answer = version ? Answer(*version) : answer_of(real);
    if (const auto* why = std::get_if<std::string>(&answer)) {
      found.unusable.push_back({program, *why});
    } else {
      found.usable.push_back({program, std::get<AssemblerVersion>(answer)});
    }
  }
  FoundAssemblers found;

 private:
  std::vector<fs::path> seen_;
};

FoundAssemblers named(std::string_view value) {
  Search search;
  for (const std::string& name : split(value, ':')) {
    const auto wrong = [&](const std::string& what) {
      return Error(ErrorKind::environment,
                   std::string(variable_name) + "=" + std::string(value) +
                       ": wanted paths of assemblers (ptxas) with ':' between, found " + what,
                   "name ptxas itself, or unset the variable");
    };
    if (name.empty()) throw wrong("an empty name");
    const fs::path program = fs::absolute(name);
    if (!can_be_run(program)) throw wrong(name + ", which is no program");
    search.add(program);
    if (!search.found.unusable.empty()) {
      throw wrong(name + ": " + search.found.unusable.front().why);
    }
  }
  return std::move(search.found);
}

std::string list_of(const FoundAssemblers& found, DriverVersion driver, Capability capability,
                    PtxVersion version) {
  std::string text;
  for (const Assembler& assembler : found.usable) {
    std::string why;
    if (driver_takes(driver, assembler.version, &why)) {
      static_cast<void>(assembles(assembler.version, capability, version, &why));
    }
    text += "\n  " + assembler.program.string() + " (" + assembler_name(assembler.version) +
            "): " + why;
  }
  for (const UnusableAssembler& other : found.unusable) {
    text += "\n  " + other.program.string() + ": " + other.why;
  }
  return text.empty() ? " none" : text;
}

}  // namespace

fs::path toolchain_directory(const fs::path& teenyc) {
  return (teenyc.parent_path() / ".." / "share" / "teeny" / "toolchain").lexically_normal();
}

std::string toolchain_name(AssemblerVersion version) {
  return std::string(directory_prefix) + version.name();
}

FoundAssemblers find_assemblers(const fs::path& teenyc) {
  const char* value = std::getenv(std::string(variable_name).c_str());
  if (value != nullptr && *value != '\0') return named(value);
  Search search;
  std::error_code failure;
  // Of teenyc as it was named, and of what a link to it leads to.
  for (const fs::path& compiler : {teenyc, fs::canonical(teenyc, failure)}) {
    for (const fs::path& directory :
         directories_of(toolchain_directory(compiler), directory_prefix)) {
      const std::string name = directory.filename().string();
      const auto version = AssemblerVersion::parse(name.substr(directory_prefix.size()));
      if (version) search.add(directory / "bin" / "ptxas", version);
    }
  }
  if (const auto on_path = find_program("ptxas")) search.add(*on_path);
  search.add("/usr/local/cuda/bin/ptxas");
  for (const fs::path& directory : directories_of("/usr/local", "cuda-")) {
    search.add(directory / "bin" / "ptxas");
  }
  return std::move(search.found);
}

Assembler require_assembler(const FoundAssemblers& found, DriverVersion driver,
                            Capability capability, std::optional<PtxVersion> version) {
  std::vector<AssemblerVersion> versions;
  for (const Assembler& assembler : found.usable) versions.push_back(assembler.version);
  if (const auto chosen = choose_assembler(versions, driver, capability, version)) {
    return found.usable.at(*chosen);
  }
  const auto wanted = wanted_assembler(driver, capability, version);
  const CapabilityInfo* chip = find_capability(capability);
  const PtxVersion needed = version.value_or(chip == nullptr ? PtxVersion{} : chip->ptx_floor);
  throw Error(ErrorKind::environment,
              "machine code of " + capability.name() + " for driver " + driver.name() +
                  (version ? " from PTX " + version->name() : "") + ": wanted " +
                  wanted.value_or("an assembler that teeny does not know of") + ", found" +
                  list_of(found, driver, capability, needed),
              (wanted ? "teeny install-toolchain fetches it, TEENY_PTXAS names one that is there; "
                        "or "
                      : std::string()) +
                  std::string("machine-code=no leaves the machine code to the driver, at every "
                              "start"));
}

}  // namespace teeny
