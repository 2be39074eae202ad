#include "teeny/cache/choose.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

#include "cpu_fit.hpp"
#include "publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/cache.hpp"

namespace fs = std::filesystem;

// Which artifact a device gets. The same rule serves a fingerprint's directory and a board's
// record: the best that fits wins, whatever compiler made it. Every file that is read is verified.

namespace teeny {

namespace {

// Better candidates compare greater. The key comes last: of two that are as good as each other, it
// must always be the same one.
using Rank = std::tuple<int, int, int, std::string>;
using Judge = std::function<std::optional<Rank>(const ArtifactInfo&, std::string* why)>;

// Of the same machine code, what the newest assembler made; of the same PTX, the newest version.
int version_rank(const ArtifactInfo& info) {
  if (info.kind == ArtifactKind::ptx) return info.ptx_version->number();
  const auto assembler = parse_assembler(info.assembler);
  return assembler->major * 1000 + assembler->minor;
}

Judge cuda_judge(const DeviceFacts& device) {
  return [device](const ArtifactInfo& info, std::string* why) -> std::optional<Rank> {
    const Fit fit = fit_cuda(info, device, why);
    if (fit == Fit::no) return std::nullopt;
    // Of one capability, what was made for exactly this architecture has more to offer.
    const int number = info.capability->number() * 2 +
                       (info.capability->suffix() != Capability::Suffix::none ? 1 : 0);
    return Rank{static_cast<int>(fit), number, version_rank(info), info.key};
  };
}

Judge cpu_judge(const detail::Processor& processor) {
  return [processor](const ArtifactInfo& info, std::string* why) -> std::optional<Rank> {
    if (info.kind != ArtifactKind::shared_object) {
      *why = "is code for a CUDA device";
      return std::nullopt;
    }
    const Target target = Target::parse_canonical(info.target);
    if (!target.is_cpu()) {
      *why = "does not say its CPU";
      return std::nullopt;
    }
    if (!detail::cpu_fits(target.cpu(), processor, why)) return std::nullopt;
    return Rank{detail::cpu_rank(target.cpu(), processor), target.cpu().opt_level, 0, info.key};
  };
}

std::string describe(const DeviceFacts& device) {
  std::string text =
      "a CUDA device " + device.capability.name() + " with driver " + device.driver.name();
  if (const auto ceiling = ptx_ceiling(device.driver))
    text += " (PTX up to " + ceiling->name() + ")";
  return text + (device.integrated ? ", integrated" : "");
}

std::string describe(const CpuTarget& host) { return "a CPU " + host.triple + " " + host.cpu; }

Error miss(std::string_view kernel, const std::string& wanted, const std::string& where,
           const std::vector<std::string>& found, const std::string& device_options) {
  std::string text =
      "no code for kernel " + std::string(kernel) + ": wanted code for " + wanted + ", found ";
  if (found.empty()) {
    text += "nothing in " + where;
  } else {
    text += "in " + where + " only";
    for (const std::string& line : found) text += "\n  " + line;
  }
  return Error(ErrorKind::input, text,
               "compile it ahead of time for this device (teeny package, or teeny aot " +
                   device_options + "), or let the program find teenyc (TEENYC_PATH)");
}

// Files in the order in which they are read, and what makes those of later groups worth no look: a
// candidate whose rank begins with that.
struct Reading {
  std::vector<std::vector<fs::path>> groups;
  int unbeaten = std::numeric_limits<int>::max();
};

Artifact choose(std::string_view kernel, const Reading& reading, const Judge& judge,
                const std::string& wanted, const std::string& where,
                const std::string& device_options) {
  std::optional<std::pair<Rank, Artifact>> best;
  std::vector<std::string> found;
  for (const std::vector<fs::path>& group : reading.groups) {
    for (const fs::path& path : group) {
      Artifact artifact = detail::read_artifact(path);
      std::string why;
      const auto rank = judge(artifact.info, &why);
      if (!rank) {
        found.push_back(path.filename().string() + " (" + form_of(artifact.info) + "): " + why);
      } else if (!best || *rank > best->first) {
        best.emplace(*rank, std::move(artifact));
      }
    }
    if (best && std::get<0>(best->first) >= reading.unbeaten) break;
  }
  if (!best) throw miss(kernel, wanted, where, found, device_options);
  return std::move(best->second);
}

std::string cuda_options(const DeviceFacts& device) {
  return "--device cuda --options capability=" + device.capability.name();
}
std::string cpu_options(const CpuTarget& host) { return "--device cpu --options cpu=" + host.cpu; }

}  // namespace

Fit fit_cuda(const ArtifactInfo& info, const DeviceFacts& device, std::string* why) {
  const auto no = [why](const char* text) {
    if (why != nullptr) *why = text;
    return Fit::no;
  };
  if (info.kind == ArtifactKind::shared_object) return no("is code for a CPU");
  if (!info.capability) return no("does not say its capability");
  if (info.kind == ArtifactKind::ptx) {
    if (!info.ptx_version) return no("does not say its PTX version");
    return fit_ptx(device, *info.capability, *info.ptx_version, why);
  }
  const auto assembler = parse_assembler(info.assembler);
  if (!assembler) return no("does not say its assembler");
  return fit_machine_code(device, {*info.capability, *assembler, info.elf_abi}, why);
}

Artifact choose_for_cuda(std::string_view kernel, const std::vector<fs::path>& candidates,
                         const std::string& where, const DeviceFacts& device) {
  // Machine code is all read, for of several that fit exactly it must always be the same one; what
  // else there is only where none does.
  Reading reading{{{}, {}}, static_cast<int>(Fit::exact_machine_code)};
  for (const fs::path& path : candidates) {
    const bool machine_code = path.extension() == "." + std::string(extension(ArtifactKind::cubin));
    reading.groups[machine_code ? 0 : 1].push_back(path);
  }
  return choose(kernel, reading, cuda_judge(device), describe(device), where, cuda_options(device));
}

Artifact detail::choose_for_processor(std::string_view kernel,
                                      const std::vector<fs::path>& candidates,
                                      const std::string& where, const Processor& processor) {
  const CpuTarget& target = processor.target;
  return choose(kernel, {{candidates}}, cpu_judge(processor), describe(target), where,
                cpu_options(target));
}

Artifact choose_for_cpu(std::string_view kernel, const std::vector<fs::path>& candidates,
                        const std::string& where, const CpuTarget& host) {
  return detail::choose_for_processor(kernel, candidates, where,
                                      {host, detail::processor_features()});
}

Artifact Cache::choose_cuda(std::string_view kernel, std::string_view fingerprint,
                            const DeviceFacts& device) const {
  return choose_for_cuda(
      kernel, list(kernel, fingerprint),
      (directory_ / (std::string(kernel) + "-" + std::string(fingerprint))).string(), device);
}

Artifact Cache::choose_cpu(std::string_view kernel, std::string_view fingerprint,
                           const CpuTarget& host) const {
  return choose_for_cpu(
      kernel, list(kernel, fingerprint),
      (directory_ / (std::string(kernel) + "-" + std::string(fingerprint))).string(), host);
}

}  // namespace teeny
