#include "teeny/target/options.hpp"

#include <algorithm>
#include <map>

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny {

namespace {

const std::vector<std::string> cuda_keys = {"capability",   "ptx-version",   "driver",
                                            "machine-code", "max-registers", "line-info",
                                            "opt-level",    "jobs",          "log-level"};
const std::vector<std::string> cpu_keys = {"triple",    "cpu",  "features",
                                           "opt-level", "jobs", "log-level"};

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Error usage(const std::string& message, const std::string& next = {}) {
  return Error(ErrorKind::usage, message, next);
}

// How messages name where a value came from; the environment variable stands by its own name.
std::string option_name(std::string_view key) { return "--options " + std::string(key); }

Error bad_value(std::string_view source, std::string_view value, std::string_view wanted,
                const std::string& next = {}) {
  return usage(std::string(source) + "=" + std::string(value) + ": wanted " + std::string(wanted) +
                   ", found \"" + std::string(value) + "\"",
               next);
}

using Values = std::map<std::string, std::string, std::less<>>;

Error unknown_key(std::string_view device, std::string_view key,
                  const std::vector<std::string>& known) {
  const bool of_the_other = contains(device == "cuda" ? cpu_keys : cuda_keys, key);
  std::string next = "known options of " + std::string(device) + ": " + join(known, ", ");
  if (of_the_other) {
    next = std::string(key) + " belongs to --device " + (device == "cuda" ? "cpu" : "cuda") + "\n" +
           next;
  } else if (const auto meant = nearest(key, known)) {
    next = "did you mean " + *meant + "?\n" + next;
  }
  return usage("--options: wanted an option of device " + std::string(device) + ", found \"" +
                   std::string(key) + "\"",
               next);
}

Values take_apart(std::string_view device, std::string_view options,
                  const std::vector<std::string>& known) {
  Values values;
  if (options.empty()) return values;
  for (const std::string& item : split(options, ',')) {
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (equals == std::string::npos || key.empty()) {
      throw usage("--options: wanted key=value items joined by commas, found \"" + item +
                      "\" in \"" + std::string(options) + "\"",
                  "known options of " + std::string(device) + ": " + join(known, ", "));
    }
    if (!contains(known, key)) throw unknown_key(device, key, known);
    const std::string value = item.substr(equals + 1);
    if (value.empty()) throw usage("--options " + key + "=: wanted a value, found none");
    if (!values.emplace(key, value).second) {
      throw usage("--options: wanted " + key + " once, found it again in \"" +
                  std::string(options) + "\"");
    }
  }
  return values;
}

std::optional<std::string> value_of(const Values& values, std::string_view key) {
  const auto at = values.find(key);
  if (at == values.end()) return std::nullopt;
  return at->second;
}

int number_between(std::string_view key, std::string_view value, int low, int high) {
  const auto number = parse_unsigned(value);
  if (!number || *number < static_cast<unsigned long long>(low) ||
      *number > static_cast<unsigned long long>(high)) {
    throw bad_value(option_name(key), value,
                    "a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return static_cast<int>(*number);
}

PtxVersion ptx_version(std::string_view source, std::string_view value) {
  const auto version = PtxVersion::parse(value);
  if (!version) throw bad_value(source, value, "a PTX version such as 82 or 8.2");
  return *version;
}

CudaTarget cuda_target(const Values& values, std::optional<std::string_view> environment) {
  const auto capability = value_of(values, "capability");
  if (!capability) {
    std::vector<std::string> names;
    for (const auto& info : known_capabilities()) names.push_back(info.capability.name());
    throw usage("--options: wanted capability=..., which device cuda cannot do without, found none",
                "known capabilities: " + join(names, ", "));
  }
  CudaTarget target{require_capability(option_name("capability"), *capability)};
  if (const auto driver = value_of(values, "driver")) {
    target.driver = DriverVersion::parse(*driver);
    if (!target.driver)
      throw bad_value(option_name("driver"), *driver, "a CUDA version such as 12.6");
    if (!ptx_ceiling(*target.driver)) {
      throw bad_value(option_name("driver"), *driver,
                      "CUDA " + oldest_driver().name() + " or later");
    }
    // Also when no version was asked for: then the floor is the least the kernels will have.
    const auto floor = find_capability(target.capability)->ptx_floor;
    if (floor > *ptx_ceiling(*target.driver)) {
      throw usage("--options driver=" + *driver + ": wanted a driver that loads PTX " +
                      floor.name() + ", the floor of " + target.capability.name() +
                      ", found one whose ceiling is PTX " + ptx_ceiling(*target.driver)->name(),
                  "such a driver is of CUDA " + oldest_driver_for(floor)->name() + " or later");
    }
  }
  if (const auto version = value_of(values, "ptx-version")) {
    target.ptx_version = ptx_version(option_name("ptx-version"), *version);
    check_ptx_version(option_name("ptx-version"), target.capability, *target.ptx_version,
                      target.driver);
  } else if (environment) {
    target.ptx_version = ptx_version("TEENYC_PTX_VERSION", *environment);
    check_ptx_version("TEENYC_PTX_VERSION", target.capability, *target.ptx_version, target.driver);
  }
  if (const auto count = value_of(values, "max-registers")) {
    target.max_registers = number_between("max-registers", *count, 16, 255);
  }
  if (const auto lines = value_of(values, "line-info")) {
    if (*lines != "yes" && *lines != "no")
      throw bad_value(option_name("line-info"), *lines, "yes or no");
    target.line_info = *lines == "yes";
  }
  return target;
}

MachineCodeOption machine_code(const Values& values) {
  const auto text = value_of(values, "machine-code");
  if (!text || *text == "auto") return MachineCodeOption::automatic;
  if (*text == "no") return MachineCodeOption::no;
  if (*text != "yes") throw bad_value(option_name("machine-code"), *text, "auto, yes or no");
  if (!value_of(values, "driver")) {
    throw usage(
        "--options machine-code=yes: wanted driver=... too, as machine code is made for a driver, "
        "found none",
        "say the CUDA version of the device's driver, such as driver=12.6");
  }
  return MachineCodeOption::yes;
}

std::string known_cpu_names() {
  std::vector<std::string> names;
  for (const KnownCpu& cpu : known_cpus()) names.emplace_back(cpu.name);
  return join(names, ", ");
}

const KnownCpu& require_cpu(const std::string& name) {
  const std::string next = "known processors: " + known_cpu_names();
  if (name == "native") {
    throw bad_value(option_name("cpu"), name, "the processor that will run the kernels",
                    "name it; cpu=host means this machine's\n" + next);
  }
  if (name == "x86-64" || name == "x86-64-v2") {
    throw bad_value(option_name("cpu"), name,
                    "a processor with FMA, which kernels need: x86-64-v3 or later", next);
  }
  const KnownCpu* found = nullptr;
  std::vector<std::string> names;
  for (const KnownCpu& cpu : known_cpus()) {
    if (cpu.name == name) found = &cpu;
    names.emplace_back(cpu.name);
  }
  if (found != nullptr) return *found;
  const auto meant = nearest(name, names);
  throw bad_value(option_name("cpu"), name, "a processor that teeny compiles for",
                  meant ? "did you mean " + *meant + "?\n" + next : next);
}

CpuTarget cpu_target(const Values& values, const std::optional<CpuTarget>& given_default) {
  const auto asked_triple = value_of(values, "triple");
  const auto asked_cpu = value_of(values, "cpu");
  std::optional<std::string> triple;
  if (asked_triple) {
    triple = normal_triple(*asked_triple);
    if (!triple) {
      throw bad_value(option_name("triple"), *asked_triple,
                      "x86_64-linux-gnu or aarch64-linux-gnu");
    }
  }
  CpuTarget target;
  if (asked_cpu == "host") {
    target = host_cpu_target();
  } else if (asked_cpu) {
    const KnownCpu& cpu = require_cpu(*asked_cpu);
    target.cpu = cpu.name;
    target.triple = cpu.triple;
  } else if (given_default) {
    target = *given_default;
    target.triple = normal_triple(target.triple).value_or(target.triple);
  } else {
    throw usage(
        "--options: wanted cpu=..., as no board is named and this machine is not asked, "
        "found none",
        "known processors: " + known_cpu_names());
  }
  if (triple && *triple != target.triple) {
    if (!asked_cpu) {
      throw usage(
          "--options triple=" + *asked_triple + ": wanted a cpu=... that goes with it, found none",
          "known processors: " + known_cpu_names());
    }
    throw usage("--options cpu=" + *asked_cpu + ": wanted a processor of " + *triple +
                    ", found one of " + target.triple,
                "known processors: " + known_cpu_names());
  }
  if (const auto features = value_of(values, "features")) {
    static_cast<void>(feature_list(*features));
    target.features = *features;
  }
  return target;
}

}  // namespace

std::vector<std::string> option_keys(std::string_view device) {
  if (device == "cuda") return cuda_keys;
  if (device == "cpu") return cpu_keys;
  return {};
}

bool has_option(std::string_view options, std::string_view key) {
  for (const std::string& item : split(options, ',')) {
    if (std::string_view(item).substr(0, item.find('=')) == key) return true;
  }
  return false;
}

CompileRequest parse_options(std::string_view device, std::string_view options,
                             std::optional<std::string_view> environment_ptx_version,
                             const std::optional<CpuTarget>& cpu_default) {
  const bool cuda = device == "cuda";
  if (!cuda && device != "cpu") {
    throw usage("--device " + std::string(device) + ": wanted cuda or cpu, found \"" +
                std::string(device) + "\"");
  }
  const Values values = take_apart(device, options, cuda ? cuda_keys : cpu_keys);
  CompileRequest request{cuda ? Target(cuda_target(values, environment_ptx_version))
                              : Target(cpu_target(values, cpu_default)),
                         {},
                         {},
                         cuda ? machine_code(values) : MachineCodeOption::no,
                         std::string(device),
                         std::string(options)};
  if (const auto level = value_of(values, "opt-level")) {
    const int number = number_between("opt-level", *level, 0, 3);
    (cuda ? request.target.cuda().opt_level : request.target.cpu().opt_level) = number;
  }
  if (const auto jobs = value_of(values, "jobs")) {
    request.jobs = number_between("jobs", *jobs, 1, 1024);
  }
  if (const auto level = value_of(values, "log-level")) {
    if (!contains({"error", "warning", "notice", "debug"}, *level)) {
      throw bad_value(option_name("log-level"), *level, "error, warning, notice or debug");
    }
    request.log_level = *level;
  }
  return request;
}

}  // namespace teeny
