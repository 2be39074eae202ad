#include "tool/preflight/kernel_fit.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runtime/holdings.hpp"
#include "runtime/places.hpp"

#include "teeny/base/error.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

using detail::Place;
using Group = std::vector<const PackagedKernel*>;

// Where kernels of that device would run; nullopt, with a notice, where too little is known of it.
std::optional<Place> place_of(const BoardFacts& facts, DeviceKind kind,
                              std::vector<std::string>& notices) {
  const auto unknown = [&](const std::string& what) {
    notices.push_back("whether the kernels for " + detail::to_string(kind) + " load on " +
                      facts.name() + " is not known: " + what);
    return std::nullopt;
  };
  if (kind == DeviceKind::cuda) {
    if (facts.from.gpu == Origin::unknown) return unknown("its CUDA device is not");
    if (facts.board.capability && facts.from.driver == Origin::unknown) {
      return unknown("its CUDA driver's version is not");
    }
    return detail::place_on(facts.board, kind);
  }
  if (facts.from.cpu == Origin::unknown) return unknown("its processor is not");
  Place place = detail::place_on(facts.board, kind);
  if (facts.cpu_features) {
    place.processor->features = {facts.cpu_features->begin(), facts.cpu_features->end()};
  }
  return place;
}

/// The kernels of one device kind against one place.
class KernelCheck {
 public:
  KernelCheck(const fs::path& package, Place place, std::vector<Finding>& findings,
              std::vector<std::string>& notices)
      : package_(package), place_(std::move(place)), findings_(findings), notices_(notices) {}

  void check(const Group& group) {
    const std::string& name = label_of(*group.front());
    std::vector<fs::path> fitting;
    std::string refusals;
    int code = finding_code::unreachable;
    for (const PackagedKernel* kernel : group) {
      const auto verdict = detail::judge(kernel->info, place_);
      if (verdict.fits) {
        fitting.push_back(package_ / kernel->artifact);
        continue;
      }
      refusals += "\n    " + form_of(kernel->info) + ": " + verdict.text;
      code = std::min(code, verdict.exit_code);
    }
    if (fitting.empty()) {
      add(code, name + " has no code for " + place_.name + ":" + refusals,
          detail::way_to_compile(place_));
      return;
    }
    for (const PackagedKernel* kernel : group) check_ptx_version(*kernel, name);
    const auto chosen = detail::choose_for(place_, group.front()->info.kernel, fitting).info;
    if (const auto problem = detail::memory_problem(chosen, place_)) {
      add(finding_code::space, name + ": " + *problem, "use smaller tiles");
    }
    if (chosen.kind != ArtifactKind::ptx) return;
    notices_.push_back(jit_notice(name, place_.name) +
                       (refusals.empty() ? "" : "; its other code does not load:" + refusals));
  }

 private:
  void add(int code, std::string text, std::string next) {
    findings_.push_back({code, std::move(text), std::move(next)});
  }

  // Code that the driver could fall back on must be code that it can read.
  void check_ptx_version(const PackagedKernel& kernel, const std::string& name) {
    if (kernel.info.kind != ArtifactKind::ptx) return;
    const auto verdict = detail::judge(kernel.info, place_);
    if (verdict.fits || verdict.exit_code != finding_code::driver) return;
    add(verdict.exit_code, name + ": " + verdict.text,
        "package with a lower ptx-version, or update the driver");
  }

  const fs::path& package_;
  Place place_;
  std::vector<Finding>& findings_;
  std::vector<std::string>& notices_;
};

}  // namespace

void check_kernels_load(const fs::path& package, const std::vector<PackagedKernel>& kernels,
                        const std::vector<std::string>& devices, const BoardFacts& facts,
                        std::vector<Finding>& findings, std::vector<std::string>& notices) {
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::cpu}) {
    const std::string device = detail::to_string(kind);
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) continue;
    auto place = place_of(facts, kind, notices);
    if (!place) continue;
    std::map<std::pair<std::string, std::string>, Group> groups;
    for (const auto& kernel : kernels) {
      if (device_of(kernel.info) != device) continue;
      groups[{kernel.info.kernel, kernel.info.fingerprint}].push_back(&kernel);
    }
    KernelCheck check(package, std::move(*place), findings, notices);
    for (const auto& [key, group] : groups) check.check(group);
  }
}

}  // namespace teeny::tool
