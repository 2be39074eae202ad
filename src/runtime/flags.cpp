#include "flags.hpp"

#include <string_view>
#include <utility>

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

Error usage(const std::string& message, const std::string& next = "see --help-teeny") {
  return Error(ErrorKind::usage, message, next);
}

// Walks over the words and hands out flags' values.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}
  [[nodiscard]] bool done() const { return at_ == words_.size(); }
  [[nodiscard]] const std::string& word() const { return words_[at_]; }
  void skip() { ++at_; }

  /// The value of `flag` when it stands here, as one word or as two.
  std::optional<std::string> value_of(std::string_view flag) {
    const std::string& now = word();
    if (now == flag) {
      if (at_ + 1 == words_.size()) throw usage(now + ": wanted a value after it, found none");
      at_ += 2;
      return words_[at_ - 1];
    }
    if (now.size() > flag.size() && now.compare(0, flag.size(), flag) == 0 &&
        now[flag.size()] == '=') {
      ++at_;
      return now.substr(flag.size() + 1);
    }
    return std::nullopt;
  }
  bool is(std::string_view flag) {
    if (word() != flag) return false;
    ++at_;
    return true;
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

void set_once(std::optional<std::string>& place, const char* flag, std::string value) {
  if (place)
    throw usage(std::string(flag) + ": wanted once, found it again with \"" + value + "\"");
  if (value.empty()) throw usage(std::string(flag) + ": wanted a value, found an empty one");
  place = std::move(value);
}

void check_together(const Flags& flags) {
  const bool ahead = !flags.devices.empty();
  if (flags.force && !ahead) {
    throw usage("--force: wanted a --device to compile for, found none");
  }
  if (flags.on && ahead) {
    throw usage(
        "--on: wanted a run of the program, found --device, which only compiles its kernels");
  }
  if (flags.board && !flags.check) {
    throw usage("--board: wanted --check, which compares with that board, found none");
  }
  // Each of these does its work and stops.
  const std::pair<const char*, bool> alone[] = {{"--list", flags.list},
                                                {"--check", flags.check},
                                                {"--device-facts", flags.device_facts},
                                                {"--inspect", flags.inspect.has_value()}};
  for (const auto& [flag, given] : alone) {
    if (!given) continue;
    for (const auto& [other, also] : alone) {
      if (also && flag != other) {
        throw usage(std::string(flag) + ": wanted it alone, found " + other + " too");
      }
    }
    if (ahead || flags.on) {
      throw usage(std::string(flag) + ": wanted it alone, found " + (ahead ? "--device" : "--on") +
                  " too");
    }
  }
}

}  // namespace

Flags take_flags(const std::vector<std::string>& words) {
  Flags flags;
  Reader reader(words);
  while (!reader.done()) {
    if (auto device = reader.value_of("--device")) {
      flags.devices.push_back({std::move(*device)});
    } else if (auto options = reader.value_of("--options")) {
      if (flags.devices.empty()) {
        throw usage("--options: wanted a --device before it, found none");
      }
      if (flags.devices.back().options) {
        throw usage("--options: wanted once for each --device, found it again with \"" + *options +
                    "\"");
      }
      flags.devices.back().options = std::move(*options);
    } else if (auto directory = reader.value_of("--cache-dir")) {
      set_once(flags.cache_directory, "--cache-dir", std::move(*directory));
    } else if (auto on = reader.value_of("--on")) {
      set_once(flags.on, "--on", std::move(*on));
    } else if (auto board = reader.value_of("--board")) {
      set_once(flags.board, "--board", std::move(*board));
    } else if (auto kernel = reader.value_of("--inspect")) {
      set_once(flags.inspect, "--inspect", std::move(*kernel));
    } else if (reader.is("--check")) {
      flags.check = true;
    } else if (reader.is("--device-facts")) {
      flags.device_facts = true;
    } else if (reader.is("--force")) {
      flags.force = true;
    } else if (reader.is("--list")) {
      flags.list = true;
    } else if (reader.is("--help-teeny")) {
      flags.help = true;
    } else if (reader.is("--")) {
      for (; !reader.done(); reader.skip()) flags.rest.push_back(reader.word());
    } else {
      flags.rest.push_back(reader.word());
      reader.skip();
    }
  }
  check_together(flags);
  return flags;
}

std::string flags_help() {
  return R"(flags that every teeny program understands:
  --device D [--options O]  compile all kernels of this program for device D (cuda or cpu) and stop;
                            may repeat; O is key=value,... and belongs to the --device before it
      cuda: capability (needed), ptx-version, driver, machine-code=auto|yes|no, max-registers,
            line-info
      cpu:  triple, cpu, features
      both: opt-level, jobs, log-level
  --force                   with --device: compile again what is there already
  --cache-dir DIR           where compiled kernels are kept, instead of the default
  --list                    print name, fingerprint and type of each kernel, name, dtype and shape of
                            each weight, and stop
  --inspect KERNEL          print all that is known of a kernel (by name, type or record key): its IR,
                            its code, what it needs, where it would load; and stop
  --check [--board FILE]    verify that every kernel is there, whole, compiled from what this program
                            traces, and fits this machine's devices, or the board that FILE describes
                            (teeny boards NAME --json); run nothing, and stop
  --device-facts            print what the CUDA driver says of this machine's devices, as JSON, and stop
  --on cpu|cuda|cuda:N      run on that device (else TEENY_DEVICE, else the best there is)
  --                        the rest belongs to the program
for example:
  --device cuda --options "capability=sm_87,ptx-version=82" --device cpu --cache-dir ./cache
)";
}

}  // namespace teeny::detail
