#include "tool/package/kernels.hpp"

#include <algorithm>
#include <map>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/records.hpp"
#include "teeny/target/loading.hpp"

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
  if (!board.capability || !board.chosen().driver || !info.capability) {
    return "board " + board.full_name() + " has no CUDA device";
  }
  const DeviceFacts facts{*board.capability, *board.chosen().driver, board.integrated};
  std::string why;
  const Fit fit = info.kind == ArtifactKind::ptx
                      ? fit_ptx(facts, *info.capability, info.ptx_version.value(), &why)
                      : fit_machine_code(facts, *info.capability, &why);
  return fit == Fit::no ? why : "";
}

std::string device_of(const ArtifactInfo& info) {
  return info.kind == ArtifactKind::shared_object ? "cpu" : "cuda";
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
                            const std::vector<std::string>& devices,
                            std::vector<Finding>& findings) {
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
  for (const auto& program : programs) {
    const auto records = ProgramRecords::read(package / "cache", program);
    if (!records) {
      add(finding_code::incomplete, program + " left no record of its kernels in the cache",
          "let its main hand its arguments to teeny::Program or teeny::run");
      continue;
    }
    for (const auto& [key, record] : records->kernels()) {
      for (const auto& artifact : record.artifacts) {
        if (by_artifact.count("cache/" + artifact) == 0) {
          add(finding_code::incomplete,
              program + ": " + record.readable + ": cache/" + artifact + " is missing",
              "make the package again");
        }
      }
      for (const auto& device : devices) {
        const bool there = std::any_of(
            record.artifacts.begin(), record.artifacts.end(), [&](const std::string& artifact) {
              const auto kernel = by_artifact.find("cache/" + artifact);
              return kernel != by_artifact.end() && device_of(kernel->second->info) == device;
            });
        if (!there) {
          add(finding_code::incomplete,
              program + ": " + record.readable + " is not there for device " + device,
              "make the package again");
        }
      }
    }
  }
}

}  // namespace teeny::tool
