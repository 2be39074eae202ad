#include "teeny/target/target.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny {

std::string Target::short_name() const { return is_cuda() ? cuda().capability.name() : "cpu"; }

namespace {

std::string field(std::string_view key, const std::string& value) {
  return std::string(key) + "=" + value + ";";
}

[[noreturn]] void malformed(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::input,
              "wanted the canonical text of a target, found \"" + std::string(text) + "\": " + why);
}

// Takes "key=value;" off the front; the order is fixed, so the key is known.
class Fields {
 public:
  explicit Fields(std::string_view text) : whole_(text), rest_(text) {}

  std::string take(std::string_view key) {
    const auto end = rest_.find(';');
    const std::string start = std::string(key) + "=";
    if (end == std::string_view::npos || rest_.rfind(start, 0) != 0) {
      malformed(whole_, "no field " + std::string(key) + " where it should be");
    }
    std::string value(rest_.substr(start.size(), end - start.size()));
    rest_.remove_prefix(end + 1);
    return value;
  }

  /// Empty text is an absent value.
  template <class Parse>
  auto take_optional(std::string_view key, const Parse& parse) {
    const std::string value = take(key);
    decltype(parse(value)) result;
    if (value.empty()) return result;
    result = parse(value);
    if (!result) malformed(whole_, "bad " + std::string(key) + " \"" + value + "\"");
    return result;
  }

  template <class Parse>
  auto take_required(std::string_view key, const Parse& parse) {
    const std::string value = take(key);
    const auto result = parse(value);
    if (!result) malformed(whole_, "bad " + std::string(key) + " \"" + value + "\"");
    return *result;
  }

  void finish() const {
    if (!rest_.empty()) malformed(whole_, "more after the last field");
  }

 private:
  std::string_view whole_;
  std::string_view rest_;
};

std::optional<int> parse_small(std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value || *value > 1'000'000) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> parse_flag(std::string_view text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  return std::nullopt;
}

}  // namespace

std::string Target::canonical() const {
  if (is_cuda()) {
    const CudaTarget& target = cuda();
    return field("device", "cuda") + field("capability", target.capability.name()) +
           field("ptx-version", target.ptx_version ? target.ptx_version->name() : "") +
           field("driver", target.driver ? target.driver->name() : "") +
           field("max-registers",
                 target.max_registers ? std::to_string(*target.max_registers) : "") +
           field("line-info", target.line_info ? "yes" : "no") +
           field("opt-level", std::to_string(target.opt_level));
  }
  const CpuTarget& target = cpu();
  return field("device", "cpu") + field("triple", target.triple) + field("cpu", target.cpu) +
         field("features", target.features) + field("opt-level", std::to_string(target.opt_level));
}

Target Target::parse_canonical(std::string_view text) {
  Fields fields(text);
  const std::string device = fields.take("device");
  if (device == "cuda") {
    CudaTarget target{fields.take_required("capability", Capability::parse)};
    target.ptx_version = fields.take_optional("ptx-version", PtxVersion::parse);
    target.driver = fields.take_optional("driver", DriverVersion::parse);
    target.max_registers = fields.take_optional("max-registers", parse_small);
    target.line_info = fields.take_required("line-info", parse_flag);
    target.opt_level = fields.take_required("opt-level", parse_small);
    fields.finish();
    return Target(target);
  }
  if (device != "cpu") malformed(text, "no device \"" + device + "\"");
  CpuTarget target;
  target.triple = fields.take("triple");
  target.cpu = fields.take("cpu");
  target.features = fields.take("features");
  target.opt_level = fields.take_required("opt-level", parse_small);
  fields.finish();
  return Target(target);
}

void check_ptx_version(std::string_view option, Capability target, PtxVersion version,
                       std::optional<DriverVersion> driver) {
  const CapabilityInfo* info = find_capability(target);
  if (info == nullptr) {
    throw Error(ErrorKind::usage,
                "wanted a capability that teeny compiles for, found " + target.name());
  }
  const std::string given = std::string(option) + "=" + version.name();
  const PtxVersion floor = info->ptx_floor;
  PtxVersion ceiling = highest_ptx();
  std::string whose_ceiling =
      "the ceiling of the newest driver that teeny knows, CUDA " + newest_driver().name();
  if (driver) {
    const auto of_driver = ptx_ceiling(*driver);
    if (!of_driver) {
      throw Error(ErrorKind::usage, given + ": wanted a driver of CUDA " + oldest_driver().name() +
                                        " or later, found driver " + driver->name());
    }
    ceiling = *of_driver;
    whose_ceiling = "the ceiling of driver " + driver->name();
  }
  if (floor > ceiling) {
    const auto needed = oldest_driver_for(floor);
    throw Error(ErrorKind::usage,
                given + ": no PTX version serves both: " + target.name() + " (" +
                    std::string(info->chips) + ") needs PTX " + floor.name() +
                    " or later, its floor, and driver " + driver->name() + " loads PTX " +
                    ceiling.name() + " at most, its ceiling",
                "choose a capability at most that of the board, or a driver of CUDA " +
                    (needed ? needed->name() : newest_driver().name()) + " or later");
  }
  const std::string range =
      floor == ceiling ? floor.name() + " is the one version that works"
                       : "versions from " + floor.name() + " to " + ceiling.name() + " work";
  const std::string next =
      range + "; left out, the lowest that the target and each kernel need is taken";
  if (version < floor) {
    throw Error(ErrorKind::usage,
                given + ": wanted PTX " + floor.name() + " or later, the floor of " +
                    target.name() + " (" + std::string(info->chips) + "), found " + version.name(),
                next);
  }
  if (version > ceiling) {
    throw Error(ErrorKind::usage,
                given + ": wanted PTX " + ceiling.name() + " or earlier, " + whose_ceiling +
                    ", found " + version.name(),
                next);
  }
  if (!version.published()) {
    throw Error(ErrorKind::usage,
                given + ": wanted a version that exists, found " + version.name() +
                    ", which NVIDIA never published",
                next);
  }
}

}  // namespace teeny
