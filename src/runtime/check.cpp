#include "check.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>

#include "holdings.hpp"
#include "places.hpp"
#include "report.hpp"
#include "resolve.hpp"
#include "source_difference.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/finding.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/location.hpp"
#include "teeny/cache/package.hpp"
#include "teeny/runtime/declared_weights.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

constexpr const char* package_again = "make the package again";

class Check {
 public:
  explicit Check(std::optional<Board> board) : board_(std::move(board)) {}

  int run() {
    open_package();
    const auto sources = open_cache();
    if (sources->compiler) compiler_ = sources->compiler->identity;
    const std::vector<Holding> all = holdings(*sources);
    const std::vector<DeviceKind> kinds = kinds_of(all);
    choose_places(kinds);
    for (const Holding& holding : all) {
      check_source(holding);
      check_artifacts(holding);
      if (holding.artifacts.empty()) {
        add_missing(holding, kinds.empty() ? "any device" : names_of(kinds), sources->cache);
        continue;
      }
      for (const DeviceKind kind : kinds) check_kind(holding, kind, sources->cache);
    }
    check_weights();
    add_file_findings();
    return conclude(all.size(), kinds);
  }

 private:
  void add(int code, std::string text, std::string next) {
    findings_.push_back({code, std::move(text), std::move(next)});
  }
  [[nodiscard]] std::string next_step() const {
    return package_ ? package_again
                    : "compile the program's kernels ahead of time again (--device)";
  }
  static std::string names_of(const std::vector<DeviceKind>& kinds) {
    std::vector<std::string> names;
    for (const DeviceKind kind : kinds) names.push_back(to_string(kind));
    return join(names, " and ");
  }
  static std::string kernel_name(const Holding& holding) {
    return "kernel " + label(*holding.instance);
  }

  // --- the package ---

  void open_package() {
    root_ = package_root(executable_path());
    std::string what = "kernels in " + cache_directory().string();
    if (root_) {
      try {
        package_ = PackageContents::read(*root_);
        what = "package " + package_->name + " for " + package_->board;
      } catch (const Error& error) {
        add(finding_code::incomplete, error.message(), error.next());
      }
    }
    fmt::print("{} {}: {}\n", check_word, program_name(), what);
    std::fflush(stdout);
    if (!package_) return;
    const std::string own = "bin/" + program_name();
    bool bound = false;
    for (const PackagedFile& file : package_->files) {
      bound = bound || file.path == own;
      if (auto problem = file_problem(*root_, file)) file_problems_[file.path] = *problem;
    }
    if (!bound) {
      add(finding_code::incomplete,
          "wanted this program (" + own + ") among the files of " + PackageContents::path +
              ", found no such entry",
          package_again);
    }
  }

  // Of a kernel's own files the kernel tells; here is the rest.
  void add_file_findings() {
    for (const auto& [path, problem] : file_problems_) {
      if (told_files_.count(path) == 0) add(finding_code::incomplete, problem, package_again);
    }
  }

  std::shared_ptr<const KernelSources> open_cache() {
    try {
      return kernel_sources();
    } catch (const Error& error) {
      add(finding_code::incomplete, error.message(), next_step());
      return std::make_shared<const KernelSources>(KernelSources{cache_directory()});
    }
  }

  // --- what is compared with what ---

  std::vector<DeviceKind> kinds_of(const std::vector<Holding>& all) const {
    bool cuda = false;
    bool cpu = false;
    if (package_) {
      for (const auto& [device, options] : package_->devices) {
        cuda = cuda || device == "cuda";
        cpu = cpu || device == "cpu";
      }
    }
    for (const Holding& holding : all) {
      for (const HeldArtifact& held : holding.artifacts) {
        if (!held.artifact) continue;
        const DeviceKind kind = device_kind(held.artifact->info);
        cuda = cuda || kind == DeviceKind::cuda;
        cpu = cpu || kind == DeviceKind::cpu;
      }
    }
    std::vector<DeviceKind> kinds;
    if (cuda) kinds.push_back(DeviceKind::cuda);
    if (cpu) kinds.push_back(DeviceKind::cpu);
    return kinds;
  }

  void choose_places(const std::vector<DeviceKind>& kinds) {
    for (const DeviceKind kind : kinds) {
      if (!board_) look_here(kind);
    }
    for (const DeviceKind kind : kinds) {
      if (board_) places_[kind] = {place_on(*board_, kind)};
      for (const Place& place : places_[kind]) {
        fmt::print("{} {}: {}\n", to_string(kind), place.name, place.description);
        if (place.device) check_memory(place);
      }
    }
  }

  void check_memory(const Place& place) {
    std::string why;
    try {
      switch (device_memory_fit(place, &why)) {
        case MemoryFit::unknown:
          fmt::print("device memory: unknown, the program declares none (teeny::memory_need)\n");
          return;
        case MemoryFit::fits:
          fmt::print("device memory: {}\n", why);
          return;
        case MemoryFit::too_little:
          add(finding_code::space, why, "let the program need less, or choose a larger board");
          return;
      }
    } catch (const Error& error) {
      add(finding_code::driver, error.message(), error.next());
    }
  }

  void look_here(DeviceKind kind) {
    const bool cuda = kind == DeviceKind::cuda;
    std::string why;
    try {
      places_[kind] = places_here(kind, &why);
    } catch (const Error& error) {
      add(cuda ? finding_code::driver : finding_code::capability, error.message(), error.next());
      return;
    }
    if (!places_[kind].empty()) return;
    if (package_) board_ = made_for();
    log(LogLevel::notice, "no CUDA device here (" + why + "): compared with " +
                              (board_ ? "the board that the package was made for"
                                      : "no board; --board FILE names one"));
  }

  std::optional<Board> made_for() {
    const fs::path file = *root_ / PackageContents::board_path;
    if (const auto text = read_file_if_exists(file)) return board_from_json(*text, file.string());
    add(finding_code::incomplete, std::string(PackageContents::board_path) + ": missing",
        "make the package again, or name a board (--board FILE)");
    told_files_.insert(PackageContents::board_path);
    return std::nullopt;
  }

  // --- one kernel ---

  // Whether it was compiled from what the program traces now.
  void check_source(const Holding& holding) {
    if (!holding.traced) {
      add(finding_code::incomplete,
          kernel_name(holding) + " does not trace: " + holding.trace_problem,
          "mend the kernel and compile it again");
      return;
    }
    const Traced& traced = *holding.traced;
    if (holding.record == nullptr || holding.record->fingerprint == traced.fingerprint) return;
    add(finding_code::incomplete,
        kernel_name(holding) + ": wanted code of fingerprint " + traced.fingerprint +
            ", as this program traces it, found that of " + holding.record->fingerprint +
            difference_from(cache_directory(), traced.kernel, holding.record->fingerprint),
        next_step());
  }

  // Each for itself, whatever device would take it.
  void check_artifacts(const Holding& holding) {
    for (const HeldArtifact& held : holding.artifacts) {
      const std::string listed = "cache/" + held.name;
      if (!held.artifact) {
        add(finding_code::incomplete, kernel_name(holding) + ": " + held.problem, next_step());
        told_files_.insert(listed);
        continue;
      }
      const ArtifactInfo& info = held.artifact->info;
      try {
        check_callable(*holding.instance, info, held.path);
      } catch (const Error& error) {
        add(info.launch_abi != ir::launch_abi ? finding_code::incomplete : finding_code::dtype,
            error.message(), error.next());
      }
      if (holding.record != nullptr && info.fingerprint != holding.record->fingerprint) {
        add(finding_code::incomplete,
            kernel_name(holding) + ": wanted code of fingerprint " + holding.record->fingerprint +
                ", as this program's record says, found " + info.fingerprint + " in " +
                held.path.string(),
            next_step());
      }
    }
  }

  void check_kind(const Holding& holding, DeviceKind kind, const fs::path& cache) {
    std::vector<const HeldArtifact*> of_kind;
    for (const HeldArtifact& held : holding.artifacts) {
      if (held.artifact && device_kind(held.artifact->info) == kind) of_kind.push_back(&held);
    }
    if (of_kind.empty()) {
      // One that is gone or damaged has been told.
      const bool told = std::any_of(holding.artifacts.begin(), holding.artifacts.end(),
                                    [](const HeldArtifact& held) { return !held.artifact; });
      if (!told) add_missing(holding, to_string(kind), cache);
      return;
    }
    if (!keep_current(holding, kind, of_kind)) return;
    for (const Place& place : places_[kind]) check_place(holding, of_kind, place);
    if (places_[kind].empty()) {
      for (const HeldArtifact* held : of_kind) {
        fmt::print("{}: {}\n", label(*holding.instance), form_of(held->artifact->info));
      }
    }
  }

  // Where there is a compiler, a launch takes no code but its own. Whether any is left.
  bool keep_current(const Holding& holding, DeviceKind kind,
                    std::vector<const HeldArtifact*>& of_kind) {
    if (compiler_.empty()) return true;
    const std::string other = of_kind.front()->artifact->info.compiler;
    of_kind.erase(std::remove_if(of_kind.begin(), of_kind.end(),
                                 [this](const HeldArtifact* held) {
                                   return held->artifact->info.compiler != compiler_;
                                 }),
                  of_kind.end());
    if (!of_kind.empty()) return true;
    add(finding_code::incomplete,
        kernel_name(holding) + ": wanted code for " + to_string(kind) + " of teenyc " + compiler_ +
            ", found only stale code, of teenyc " + other,
        next_step());
    return false;
  }

  void check_place(const Holding& holding, const std::vector<const HeldArtifact*>& of_kind,
                   const Place& place) {
    std::vector<fs::path> fitting;
    std::string refusals;
    int code = finding_code::unreachable;
    for (const HeldArtifact* held : of_kind) {
      const ArtifactInfo& info = held->artifact->info;
      const Verdict verdict = judge(info, place);
      if (verdict.fits) {
        fitting.push_back(held->path);
        continue;
      }
      refusals +=
          "\n  " + held->path.filename().string() + " (" + form_of(info) + "): " + verdict.text;
      code = std::min(code, verdict.exit_code);
    }
    if (fitting.empty()) {
      add(code, kernel_name(holding) + " has no code for " + place.name + ":" + refusals,
          way_to_compile(place));
      return;
    }
    const ArtifactInfo chosen = choose_for(place, holding.instance->name, fitting).info;
    if (auto problem = memory_problem(chosen, place)) {
      add(finding_code::space, kernel_name(holding) + ": " + *problem, "use smaller tiles");
      return;
    }
    fmt::print("{}: {}: {}\n", label(*holding.instance), place.name, judge(chosen, place).text);
    // Machine code that does not load is no use, and its absence costs time at every start.
    if (chosen.kind == ArtifactKind::ptx && !refusals.empty()) {
      log(LogLevel::warning,
          kernel_name(holding) + " runs on " + place.name +
              " by what the driver makes of its PTX; other code there does not load:" + refusals);
    }
  }

  void add_missing(const Holding& holding, const std::string& what, const fs::path& cache) {
    const bool by_fingerprint = holding.record == nullptr && holding.traced;
    std::string text = kernel_name(holding) + ": wanted code for " + what;
    if (by_fingerprint) text += " of fingerprint " + holding.traced->fingerprint;
    text += ", found none in " + cache.string();
    if (by_fingerprint) text += difference_from_other(cache, *holding.traced);
    add(finding_code::incomplete, text, next_step());
  }

  // --- weights ---

  void check_weights() {
    try {
      const std::vector<WeightNeed> needs = declared_weights();
      if (needs.empty()) return;
      if (!root_) {
        fmt::print("weights: {} declared; the program names their file when it runs\n",
                   needs.size());
        return;
      }
      auto found = weights_check()(needs, *root_ / "data");
      if (found.empty()) fmt::print("weights: {}, all as declared\n", needs.size());
      for (Finding& finding : found) findings_.push_back(std::move(finding));
    } catch (const Error& error) {
      add(finding_code::incomplete, error.message(), error.next());
    }
  }

  int conclude(std::size_t kernels, const std::vector<DeviceKind>& kinds) {
    if (kernels == 0) log(LogLevel::warning, "this program has no kernels");
    std::fflush(stdout);
    int code = 0;
    for (const Finding& finding : findings_) {
      report(Error(ErrorKind::board, finding.text, finding.next, finding.exit_code));
      code = code == 0 ? finding.exit_code : std::min(code, finding.exit_code);
    }
    if (code != 0) {
      log(LogLevel::error,
          fmt::format("{} found, exit code {}",
                      findings_.size() == 1 ? std::string("1 problem")
                                            : fmt::format("{} problems", findings_.size()),
                      code));
      return code;
    }
    fmt::print("{} {} complete for {}", kernels, kernels == 1 ? "kernel is" : "kernels are",
               kinds.empty() ? std::string("no device") : names_of(kinds));
    if (package_) fmt::print(", {} files are as the manifest says", package_->files.size());
    fmt::print("\n");
    return 0;
  }

  std::optional<Board> board_;
  std::optional<fs::path> root_;  // of the package
  std::optional<PackageContents> package_;
  std::string compiler_;                              // its identity; empty where there is none
  std::map<std::string, std::string> file_problems_;  // by path below the package
  std::set<std::string> told_files_;
  std::map<DeviceKind, std::vector<Place>> places_;
  std::vector<Finding> findings_;
};

}  // namespace

int check_program(const std::optional<fs::path>& board_file) {
  std::optional<Board> board;
  if (board_file) board = board_from_json(read_file(*board_file), board_file->string());
  return Check(std::move(board)).run();
}

}  // namespace teeny::detail
