#include "tool/commands/kernel_check.hpp"

#include <algorithm>

#include "tool/commands/programs.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

/// What teeny::Program leaves in every program that uses it.
constexpr std::string_view program_marker = "--help-teeny";

[[noreturn]] void fail(const fs::path& program, const std::string& what, int exit_code) {
  throw Error(ErrorKind::input,
              "the kernels of " + program.filename().string() + " " + what + " (see above)", {},
              exit_code);
}

std::size_t list_kernels(const fs::path& program) {
  Command command{{program.string(), "--list"}};
  command.capture_error = false;
  const auto result = run(command);
  if (result.exit_code != 0) fail(program, "do not verify", result.exit_code);
  std::size_t kernels = 0;
  for (const auto& line : split(result.output, '\n')) {
    if (line.find('\t') != std::string::npos) ++kernels;
  }
  return kernels;
}

}  // namespace

std::vector<TargetInfo> programs_of(const BuildTree& host, const std::vector<TargetInfo>& targets) {
  std::vector<TargetInfo> programs;
  const auto& all = host.codemodel().targets;
  for (const auto& target : all) {
    if (!target.is_executable()) continue;
    const bool stood_for = std::any_of(all.begin(), all.end(), [&target](const auto& other) {
      return other.has_kernels_alone() && other.program() == target.name;
    });
    if (stood_for) continue;
    const bool wanted =
        targets.empty() ||
        std::any_of(targets.begin(), targets.end(), [&target](const auto& other) {
          return other.program() == target.program() && other.project == target.project;
        });
    if (wanted) programs.push_back(target);
  }
  return programs;
}

std::size_t check_kernels(const BuildTree& host, const std::vector<TargetInfo>& programs,
                          const std::vector<DeviceArgument>& devices, const fs::path& cache) {
  std::size_t kernels = 0;
  for (const auto& target : programs) {
    const fs::path program = host.artifact(target);
    if (read_file(program).find(program_marker) == std::string::npos) {
      log(LogLevel::notice, target.name + " has no flags of teeny: its kernels are not traced");
      continue;
    }
    const std::size_t found = list_kernels(program);
    log(LogLevel::notice, target.name + ": " + std::to_string(found) + " kernels");
    kernels += found;
    if (found == 0) continue;
    const AotRun aot{program, devices, cache.string(), false, true};
    const int code = run_aot_program(aot).exit_code;
    if (code != 0) fail(program, "do not fit", code);
  }
  return kernels;
}

std::vector<DeviceArgument> devices_to_check(const std::vector<DeviceArgument>& given,
                                             const Board& board) {
  std::vector<DeviceArgument> devices = given;
  if (devices.empty()) devices.push_back({board.capability ? "cuda" : "cpu"});
  for (auto& device : devices) {
    std::string options = device.options.value_or("");
    // An assembler finds nothing that the compiler does not, and takes longer.
    if (device.device == "cuda" && !has_option(options, "machine-code")) {
      options += (options.empty() ? "" : ",") + std::string("machine-code=no");
    }
    device.options = check_device_for_board({device.device, options}, board).options;
  }
  return devices;
}

}  // namespace teeny::tool
