#include "tool/package/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/places.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/choose.hpp"
#include "teeny/cache/records.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

bool is_artifact(const fs::path& path) {
  const auto extension = path.extension();
  return extension == ".ptx" || extension == ".cubin" || extension == ".so";
}

// The .version line of PTX text; nullopt where it has none that can be read.
std::optional<PtxVersion> version_in(const std::string& ptx) {
  constexpr std::string_view directive = ".version ";
  for (std::size_t at = 0; at < ptx.size(); at = ptx.find('\n', at)) {
    if (ptx[at] == '\n') ++at;
    if (ptx.compare(at, directive.size(), directive) != 0) continue;
    const auto end = ptx.find_first_not_of("0123456789.", at + directive.size());
    return PtxVersion::parse(
        std::string_view(ptx).substr(at + directive.size(), end - at - directive.size()));
  }
  return std::nullopt;
}

// The devices that were asked for, each once.
std::vector<std::string> devices_of(const std::vector<CompileRequest>& requests) {
  std::vector<std::string> devices;
  for (const auto& request : requests) {
    if (std::find(devices.begin(), devices.end(), request.device) == devices.end()) {
      devices.push_back(request.device);
    }
  }
  return devices;
}

}  // namespace

std::vector<PackagedKernel> list_kernels(const fs::path& package,
                                         const std::vector<std::string>& programs,
                                         std::vector<Finding>& findings) {
  const fs::path cache = package / "cache";
  std::map<std::string, std::string> types;  // artifact -> C++ type
  for (const auto& program : programs) {
    const auto records = ProgramRecords::read(cache, program);
    if (!records) continue;
    for (const auto& [key, record] : records->kernels()) {
      for (const auto& artifact : record.artifacts) types[artifact] = record.readable;
    }
  }
  std::vector<PackagedKernel> kernels;
  if (!fs::is_directory(cache)) return kernels;
  for (const auto& entry : fs::recursive_directory_iterator(cache)) {
    if (!entry.is_regular_file() || !is_artifact(entry.path())) continue;
    const std::string path = entry.path().lexically_relative(cache).generic_string();
    try {
      PackagedKernel kernel;
      const Artifact artifact = Artifact::unpack(read_file(entry.path()), entry.path());
      kernel.info = artifact.info;
      if (kernel.info.kind == ArtifactKind::ptx &&
          version_in(artifact.code) != kernel.info.ptx_version) {
        findings.push_back({finding_code::incomplete,
                            path + ": wanted PTX of the version that its description tells, found "
                                   "another .version in the text",
                            "make the package again"});
        continue;
      }
      if (Cache(cache).path_of(kernel.info) != entry.path()) {
        findings.push_back({finding_code::incomplete,
                            path + " holds " + kernel.info.kernel + " under another kernel's name",
                            "make the package again"});
        continue;
      }
      kernel.artifact = "cache/" + path;
      kernel.runs_on = runs_on(kernel.info);
      if (const auto type = types.find(path); type != types.end()) kernel.type = type->second;
      kernels.push_back(std::move(kernel));
    } catch (const Error& error) {
      findings.push_back({finding_code::incomplete, error.message(), error.next()});
    }
  }
  std::sort(kernels.begin(), kernels.end(), [](const PackagedKernel& a, const PackagedKernel& b) {
    return a.artifact < b.artifact;
  });
  return kernels;
}

void check_kernels_present(const fs::path& package, const std::vector<std::string>& programs,
                           const std::vector<PackagedKernel>& kernels,
                           const std::vector<std::string>& devices,
                           std::vector<Finding>& findings) {
  const auto add = [&findings](const std::string& text, const std::string& next) {
    findings.push_back({finding_code::incomplete, text, next});
  };
  if (kernels.empty()) {
    add("the cache is empty: no kernel was compiled",
        "let main hand its arguments to teeny::Program or teeny::run, and launch a kernel");
    return;
  }
  std::map<std::string, std::string> device_by_artifact;
  for (const auto& kernel : kernels) device_by_artifact[kernel.artifact] = device_of(kernel.info);
  for (const auto& program : programs) {
    const auto records = ProgramRecords::read(package / "cache", program);
    if (!records) {
      add(program + " left no record of its kernels in the cache",
          "let its main hand its arguments to teeny::Program or teeny::run");
      continue;
    }
    for (const auto& [key, record] : records->kernels()) {
      std::set<std::string> there;
      for (const auto& artifact : record.artifacts) {
        const auto kernel = device_by_artifact.find("cache/" + artifact);
        if (kernel != device_by_artifact.end()) {
          there.insert(kernel->second);
        } else {
          add(program + ": " + record.readable + ": cache/" + artifact + " is missing",
              "make the package again");
        }
      }
      for (const auto& device : devices) {
        if (there.count(device) != 0) continue;
        add(program + ": " + record.readable + " is not there for device " + device,
            "make the package again");
      }
    }
  }
}

void check_kernels_complete(const fs::path& package, const std::vector<std::string>& programs,
                            const std::vector<PackagedKernel>& kernels, const Board& board,
                            const std::vector<CompileRequest>& requests,
                            std::vector<Finding>& findings, std::vector<std::string>& notices) {
  check_kernels_present(package, programs, kernels, devices_of(requests), findings);
  const detail::Place cuda = detail::place_on(board, DeviceKind::cuda);
  const detail::Place cpu = detail::place_on(board, DeviceKind::cpu);
  std::map<std::pair<std::string, std::string>, Fit> best;  // of what records name: by type and IR
  for (const auto& kernel : kernels) {
    const bool is_cuda = kernel.info.kind != ArtifactKind::shared_object;
    const auto verdict = detail::judge(kernel.info, is_cuda ? cuda : cpu);
    if (!verdict.fits) {
      findings.push_back({verdict.exit_code, kernel.info.kernel + ": " + verdict.text,
                          "compile it for the board"});
    }
    if (!is_cuda || !cuda.device || kernel.type.empty()) continue;
    Fit& so_far = best[{kernel.type, kernel.info.fingerprint}];
    so_far = std::max(so_far, fit_cuda(kernel.info, *cuda.device));
  }
  const bool machine_code =
      std::any_of(requests.begin(), requests.end(),
                  [](const CompileRequest& request) { return request.wants_machine_code(); });
  for (const auto& [kernel, fit] : best) {
    const std::string& type = kernel.first;
    if (fit != Fit::ptx) continue;
    if (machine_code) {
      findings.push_back(
          {finding_code::incomplete,
           type + ": wanted machine code that " + board.full_name() + " loads, found PTX alone",
           "make the package again; machine-code=no leaves it to the board's driver"});
    } else {
      notices.push_back(jit_notice(type, board.full_name()));
    }
  }
}

std::optional<std::uint64_t> peak_device_bytes(const fs::path& package,
                                               const std::vector<std::string>& programs) {
  std::optional<std::uint64_t> peak;
  for (const auto& program : programs) {
    const auto records = ProgramRecords::read(package / "cache", program);
    if (!records || !records->peak_device_bytes()) return std::nullopt;
    peak = std::max(peak.value_or(0), *records->peak_device_bytes());
  }
  return peak;
}

const std::string& label_of(const PackagedKernel& kernel) {
  return kernel.type.empty() ? kernel.info.kernel : kernel.type;
}

std::string device_of(const ArtifactInfo& info) {
  return info.kind == ArtifactKind::shared_object ? "cpu" : "cuda";
}

std::string jit_notice(const std::string& kernel, const std::string& board) {
  return kernel + ": PTX alone, which the driver of " + board +
         " compiles at every start (tens to hundreds of ms a kernel)";
}

}  // namespace teeny::tool
