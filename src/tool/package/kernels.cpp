#include "tool/package/kernels.hpp"

#include <algorithm>
#include <map>

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

// Why an artifact of `device` does not load on the board; empty when it does.
std::string misfit(const ArtifactInfo& info, const Board& board) {
  if (info.kind == ArtifactKind::shared_object) {
    const auto clash = conflict(board, Target::parse_canonical(info.target));
    return clash.value_or("");
  }
  const auto facts = device_facts(board);
  if (!facts) return "board " + board.full_name() + " has no CUDA device";
  std::string why;
  return fit_cuda(info, *facts, &why) == Fit::no ? why : "";
}

std::string device_of(const ArtifactInfo& info) {
  return info.kind == ArtifactKind::shared_object ? "cpu" : "cuda";
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
      kernel.info = Artifact::unpack(read_file(entry.path()), entry.path()).info;
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

void check_kernels_complete(const fs::path& package, const std::vector<std::string>& programs,
                            const std::vector<PackagedKernel>& kernels, const Board& board,
                            const std::vector<CompileRequest>& requests,
                            std::vector<Finding>& findings, std::vector<std::string>& notices) {
  const auto add = [&findings](int code, const std::string& text, const std::string& next) {
    findings.push_back({code, text, next});
  };
  std::map<std::string, const PackagedKernel*> by_artifact;
  for (const auto& kernel : kernels) {
    by_artifact[kernel.artifact] = &kernel;
    if (const auto why = misfit(kernel.info, board); !why.empty()) {
      add(finding_code::capability, kernel.info.kernel + ": " + why, "compile it for the board");
    }
  }
  if (kernels.empty()) {
    add(finding_code::incomplete, "the cache is empty: no kernel was compiled",
        "let main hand its arguments to teeny::Program or teeny::run, and launch a kernel");
    return;
  }
  const auto facts = device_facts(board);
  const bool machine_code =
      std::any_of(requests.begin(), requests.end(),
                  [](const CompileRequest& request) { return request.wants_machine_code(); });
  for (const auto& program : programs) {
    const auto records = ProgramRecords::read(package / "cache", program);
    if (!records) {
      add(finding_code::incomplete, program + " left no record of its kernels in the cache",
          "let its main hand its arguments to teeny::Program or teeny::run");
      continue;
    }
    for (const auto& [key, record] : records->kernels()) {
      std::vector<const ArtifactInfo*> infos;
      Fit best = Fit::no;
      for (const auto& artifact : record.artifacts) {
        const auto kernel = by_artifact.find("cache/" + artifact);
        if (kernel == by_artifact.end()) {
          add(finding_code::incomplete,
              program + ": " + record.readable + ": cache/" + artifact + " is missing",
              "make the package again");
          continue;
        }
        infos.push_back(&kernel->second->info);
        if (facts) best = std::max(best, fit_cuda(*infos.back(), *facts));
      }
      for (const auto& device : devices_of(requests)) {
        const bool there =
            std::any_of(infos.begin(), infos.end(),
                        [&device](const ArtifactInfo* info) { return device_of(*info) == device; });
        if (!there) {
          add(finding_code::incomplete,
              program + ": " + record.readable + " is not there for device " + device,
              "make the package again");
        }
      }
      if (best != Fit::ptx) continue;
      if (machine_code) {
        add(finding_code::incomplete,
            program + ": " + record.readable + ": wanted machine code that " + board.full_name() +
                " loads, found PTX alone",
            "make the package again; machine-code=no leaves it to the board's driver");
      } else {
        notices.push_back(program + ": " + record.readable + ": PTX alone, which the driver of " +
                          board.full_name() +
                          " compiles at every start (tens to hundreds of ms a kernel)");
      }
    }
  }
}

}  // namespace teeny::tool
