#include "teeny/target/capability.hpp"

#include <algorithm>

#include "target/two_numbers.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"

namespace teeny {

std::optional<Capability> Capability::parse(std::string_view text) noexcept {
  if (text.rfind("sm_", 0) == 0) text.remove_prefix(3);
  Suffix suffix = Suffix::none;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    suffix = text.back() == 'a' ? Suffix::arch : Suffix::family;
    text.remove_suffix(1);
  }
  const auto numbers = detail::parse_two_numbers(text);
  if (!numbers) return std::nullopt;
  return Capability{numbers->first, numbers->second, suffix};
}

std::string Capability::name() const {
  std::string text = "sm_" + std::to_string(number());
  if (suffix_ != Suffix::none) text.push_back(static_cast<char>(suffix_));
  return text;
}

const std::vector<CapabilityInfo>& known_capabilities() {
  // Floors: bisected with ptxas 13.0.88; sm_72, which CUDA 13 no longer assembles, from LLVM 19.
  // Shared memory a block may opt in to: the tables of NVIDIA's CUDA programming guide; for sm_72,
  // which the current guide no longer lists, what every block has without asking.
  static const std::vector<CapabilityInfo> table = {
      {Capability::sm_72, {6, 1}, 48, true, "Jetson Xavier"},
      {Capability::sm_75, {6, 3}, 64, false, "T4, RTX 20"},
      {Capability::sm_80, {7, 0}, 163, false, "A100, A30"},
      {Capability::sm_86, {7, 1}, 99, false, "RTX 30, A10, A40"},
      {Capability::sm_87, {7, 4}, 163, true, "Jetson Orin"},
      {Capability::sm_89, {7, 8}, 99, false, "RTX 40, L4, L40S"},
      {Capability::sm_90, {7, 8}, 227, false, "H100, H200, GH200"},
      {Capability::sm_90a, {8, 0}, 227, false, "H100, H200, GH200"},
      {Capability::sm_100, {8, 6}, 227, false, "B200, GB200"},
      {Capability::sm_103, {8, 8}, 227, false, "B300"},
      {Capability::sm_110, {9, 0}, 227, true, "Jetson Thor"},
      {Capability::sm_120, {8, 7}, 99, false, "RTX 50"},
      {Capability::sm_121, {8, 8}, 99, false, "GB10"},
  };
  return table;
}

const CapabilityInfo* find_capability(Capability capability) noexcept {
  for (const auto& info : known_capabilities()) {
    if (info.capability == capability) return &info;
  }
  return nullptr;
}

namespace {

std::string known_names() {
  std::vector<std::string> names;
  for (const auto& info : known_capabilities()) names.push_back(info.capability.name());
  return join(names, ", ");
}

// The highest known plain capability not above this one: a device of that number loads its PTX.
const CapabilityInfo* nearest_lower(Capability capability) {
  const CapabilityInfo* best = nullptr;
  for (const auto& info : known_capabilities()) {
    if (info.capability.suffix() == Capability::Suffix::none &&
        info.capability.number() <= capability.number()) {
      best = &info;
    }
  }
  return best;
}

}  // namespace

Capability require_capability(std::string_view option, std::string_view text) {
  const std::string given = std::string(option) + "=" + std::string(text);
  if (text == "native") {
    throw Error(ErrorKind::usage,
                given +
                    ": wanted the capability of the machine that will run the kernels, found "
                    "a word that means whatever machine this is",
                "name the board (--target) or its capability, one of " + known_names());
  }
  const auto capability = Capability::parse(text);
  if (!capability) {
    throw Error(ErrorKind::usage,
                given + ": wanted a compute capability such as sm_87, 87 or 8.7, found \"" +
                    std::string(text) + "\"",
                "known capabilities: " + known_names());
  }
  if (find_capability(*capability) != nullptr) return *capability;
  std::string next = "known capabilities: " + known_names();
  if (const auto* lower = nearest_lower(*capability)) {
    next = "the nearest lower known capability is " + lower->capability.name() + " (" +
           std::string(lower->chips) + "): its PTX loads on a device of capability " +
           std::to_string(capability->major()) + "." + std::to_string(capability->minor()) + "\n" +
           next;
  }
  throw Error(ErrorKind::usage,
              given + ": wanted a capability that teeny compiles for, found " + capability->name(),
              next);
}

}  // namespace teeny
