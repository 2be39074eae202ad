#include "tool/commands/devices.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny::tool {

struct DeviceFlags::Words {
  std::vector<std::string> devices;
  std::vector<std::string> options;
  CLI::App* command = nullptr;
  CLI::Option* device_flag = nullptr;
  CLI::Option* options_flag = nullptr;
};

void DeviceFlags::add_to(CLI::App& command) {
  words_ = std::make_shared<Words>();
  words_->command = &command;
  words_->device_flag = command.add_option("--device", words_->devices, "cuda or cpu; may repeat")
                            ->allow_extra_args(false)
                            ->type_name("D");
  words_->options_flag =
      command
          .add_option("--options", words_->options,
                      "key=value,... of the --device before it, e.g. capability=sm_87")
          ->allow_extra_args(false)
          ->type_name("O");
}

std::vector<DeviceArgument> DeviceFlags::arguments(bool required) const {
  std::vector<DeviceArgument> arguments;
  std::size_t device = 0;
  std::size_t options = 0;
  for (const CLI::Option* flag : words_->command->parse_order()) {
    if (flag == words_->device_flag) {
      arguments.push_back({words_->devices.at(device++)});
    } else if (flag == words_->options_flag) {
      const std::string& text = words_->options.at(options++);
      if (arguments.empty()) {
        throw Error(ErrorKind::usage, "--options " + text + " has no --device before it",
                    "each --options belongs to the --device before it");
      }
      if (arguments.back().options) {
        throw Error(ErrorKind::usage,
                    "--device " + arguments.back().device + " has two --options: \"" +
                        *arguments.back().options + "\" and \"" + text + "\"",
                    "join the keys with a comma, or repeat --device");
      }
      arguments.back().options = text;
    }
  }
  if (required && arguments.empty()) {
    throw Error(ErrorKind::usage, "--device is missing",
                "say what the kernels are compiled for: --device cuda --options capability=sm_87, "
                "or --device cpu");
  }
  return arguments;
}

namespace {

std::optional<std::string_view> environment_ptx_version() {
  const char* value = std::getenv("TEENYC_PTX_VERSION");
  if (value == nullptr || *value == '\0') return std::nullopt;  // as the program reads it
  return value;
}

void append(BoardRequest& request, const std::string& item) {
  if (!request.options.empty()) request.options += ",";
  request.options += item;
  request.appended.push_back(item);
}

std::string what_it_takes(const Board& board) {
  std::string text = board.full_name() + " takes ";
  if (board.capability) {
    text += "PTX of capability " + board.capability->name() + " and lower";
    const auto& ceiling = board.chosen().ptx_ceiling;
    if (ceiling) text += ", up to PTX " + ceiling->name();
    text += "; and ";
  }
  return text + "--device cpu for " + board.triple;
}

std::string without_option(const std::string& options, const std::string& key) {
  std::vector<std::string> kept;
  for (const auto& item : split(options, ',')) {
    if (item.compare(0, key.size() + 1, key + "=") != 0) kept.push_back(item);
  }
  return join(kept, ",");
}

// Machine code is for the board's chip and driver or of no use.
void settle_machine_code(BoardRequest& result, const Board& board) {
  const auto facts = device_facts(board);
  if (!facts) return;
  const CompileRequest& request = result.request;
  const auto clash = [&](const std::string& why) {
    return Error(ErrorKind::usage, "--device cuda --options " + result.options + ": " + why,
                 "with machine-code=no, " + board.full_name() +
                     "'s driver compiles PTX at every start; or name another --target");
  };
  std::string why;
  const CudaTarget& target = request.target.cuda();
  if (fit_capability(*facts, target.capability, &why) == Fit::no) {
    if (!has_option(result.options, "machine-code")) {
      append(result, "machine-code=no");
    } else if (request.machine_code != MachineCodeOption::no) {
      throw clash(why);
    }
    return;
  }
  if (request.wants_machine_code() && target.driver->major > facts->driver.major) {
    throw clash("wanted machine code for a driver of CUDA " + std::to_string(facts->driver.major) +
                ", that of board " + board.full_name() + ", found driver=" + target.driver->name());
  }
}

}  // namespace

CompileRequest check_device(const DeviceArgument& argument) {
  std::optional<CpuTarget> host;
  if (argument.device == "cpu" && !has_option(argument.options.value_or(""), "cpu")) {
    host = host_cpu_target();
  }
  return parse_options(argument.device, argument.options.value_or(""), environment_ptx_version(),
                       host);
}

BoardRequest check_device_for_board(const DeviceArgument& argument, const Board& board) {
  BoardRequest result{
      {Target(Capability::sm_75), {}, {}, {}, {}, {}}, argument.options.value_or(""), {}};
  const auto missing = [&result](std::string_view key) { return !has_option(result.options, key); };
  const auto parse = [&](const std::string& options) {
    return parse_options(argument.device, options, environment_ptx_version(),
                         CpuTarget{board.triple, board.cpu, {}, 2});
  };
  if (argument.device == "cuda" && board.capability && missing("capability")) {
    append(result, "capability=" + board.capability->name());
  }
  // First without the board's driver: what clashes with the board is then said of the board. (And
  // without machine-code, which may want that driver.)
  result.request = parse(without_option(result.options, "machine-code"));
  if (const auto clash = conflict(board, result.request.target)) {
    throw Error(ErrorKind::usage,
                "--device " + argument.device + " --options " + result.options + ": " + *clash,
                what_it_takes(board) + "; or name another --target");
  }
  const BoardGeneration& generation = board.chosen();
  if (argument.device == "cuda" && generation.driver && missing("driver")) {
    append(result, "driver=" + generation.driver->name());
  }
  if (argument.device == "cpu" && missing("cpu")) {
    if (missing("triple")) append(result, "triple=" + board.triple);
    append(result, "cpu=" + board.cpu);
  }
  result.request = parse(result.options);
  if (argument.device == "cuda") {
    settle_machine_code(result, board);
    result.request = parse(result.options);
  }
  return result;
}

std::vector<std::string> forwarded(const std::vector<DeviceArgument>& arguments) {
  std::vector<std::string> words;
  for (const auto& argument : arguments) {
    words.insert(words.end(), {"--device", argument.device});
    if (argument.options) words.insert(words.end(), {"--options", *argument.options});
  }
  return words;
}

}  // namespace teeny::tool
