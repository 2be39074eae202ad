#include "tool/preflight/preflight.hpp"

#include <algorithm>
#include <optional>

#include "tool/package/elf_check.hpp"
#include "tool/package/kernels.hpp"
#include "tool/package/manifest.hpp"
#include "tool/package/table.hpp"
#include "tool/preflight/kernel_fit.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/records.hpp"
#include "teeny/target/memory.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* package_again = "make the package again";

std::string machine_of(std::string_view triple) {
  return std::string(triple.substr(0, triple.find('-')));
}

// "libcudart.so.13" and "libcublas.so.13.1": the release of CUDA that such a library belongs to.
std::optional<int> cuda_release(const std::string& library) {
  static const std::vector<std::string> of_the_toolkit = {
      "libcudart", "libcublas", "libcublasLt", "libnvrtc", "libnvJitLink", "libcusparse"};
  const auto dot = library.find(".so.");
  if (dot == std::string::npos || std::find(of_the_toolkit.begin(), of_the_toolkit.end(),
                                            library.substr(0, dot)) == of_the_toolkit.end()) {
    return std::nullopt;
  }
  const auto number = parse_unsigned(split(std::string_view(library).substr(dot + 4), '.').front());
  if (!number || *number > 99) return std::nullopt;
  return static_cast<int>(*number);
}

class Examination {
 public:
  Examination(const fs::path& package, const BoardFacts& facts, std::vector<std::string>& notices)
      : package_(package), facts_(facts), notices_(notices) {}

  std::vector<Finding> run() {
    try {
      contents_ = PackageContents::read(package_);
      check_files();
      check_machine();
      check_kernels();
      check_memory();
      check_disk();
    } catch (const Error& error) {
      add(finding_code::incomplete, error.message(), error.next());
    }
    return std::move(findings_);
  }

 private:
  void add(int code, std::string text, std::string next) {
    findings_.push_back({code, std::move(text), std::move(next)});
  }

  void check_files() {
    files_ = list_files(package_);
    for (const auto& difference : compare_files(contents_.files, files_)) {
      whole_ = false;
      add(finding_code::incomplete,
          "wanted the files that " + std::string(PackageContents::path) + " tells of, found " +
              difference,
          package_again);
    }
  }

  void check_machine() {
    const std::string wanted = machine_of(contents_.triple);
    const std::string found = machine_of(facts_.board.triple);
    if (facts_.from.machine == Origin::unknown) {
      notices_.push_back("the machine of " + facts_.name() + " is not known");
      return;
    }
    if (wanted != found) {
      add(finding_code::c_library,
          "wanted a machine of " + wanted + ", as the package is for " + contents_.board + ", " +
              facts_.name() + " is " + found,
          "package for the board: teeny package --target ...");
      return;
    }
    if (facts_.has_loader == false) {
      add(finding_code::c_library,
          "wanted the GNU C library and its loader, " + facts_.name() + " has no such loader",
          "run it on a system with glibc; musl (Alpine and others) does not do");
    }
    if (facts_.from.glibc == Origin::unknown) {
      notices_.push_back("the C library of " + facts_.name() + " is not known");
    }
    if (facts_.from.glibcxx == Origin::unknown) {
      notices_.push_back("the libstdc++ of " + facts_.name() + " is not known");
    }
    std::vector<std::string> libraries = facts_.libraries.value_or(std::vector<std::string>{});
    for (const auto& file : files_) {
      if (file.path.rfind("lib/", 0) == 0) libraries.push_back(file.path.substr(4));
    }
    for (const auto& file : files_) {
      if (file.path.rfind("bin/", 0) == 0 || file.path.rfind("lib/", 0) == 0) {
        check_elf_file(file.path, libraries);
      }
    }
  }

  void check_elf_file(const std::string& path, const std::vector<std::string>& libraries) {
    const std::string bytes = read_file(package_ / path);
    if (!is_elf(bytes)) return;
    try {
      const ElfInfo elf = read_elf(bytes, path);
      for (auto& finding : check_elf(elf, path, facts_.board, libraries)) {
        findings_.push_back(std::move(finding));
      }
      for (const auto& library : elf.needed) check_cuda_library(path, library);
    } catch (const Error& error) {
      add(finding_code::incomplete, error.message(), package_again);
    }
  }

  // The runtime's own answer to this would be error 35, "driver version is insufficient".
  void check_cuda_library(const std::string& path, const std::string& library) {
    const auto release = cuda_release(library);
    const auto& driver = facts_.board.chosen().driver;
    if (!release || !driver || facts_.from.driver == Origin::unknown || *release <= driver->major) {
      return;
    }
    add(finding_code::driver,
        path + ": wanted a driver of CUDA " + std::to_string(*release) + ".0 or later for " +
            library + ", " + facts_.name() + " has driver " + driver->name(),
        "update the board's driver, or build with the toolkit of CUDA " +
            std::to_string(driver->major));
  }

  void check_kernels() {
    std::vector<std::string> devices;
    for (const auto& [device, options] : contents_.devices) {
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
        devices.push_back(device);
      }
    }
    std::vector<Finding> damaged;
    const auto kernels = list_kernels(package_, contents_.programs, damaged);
    // What is not as the manifest says has been told.
    if (whole_) findings_.insert(findings_.end(), damaged.begin(), damaged.end());
    if (devices.empty() && kernels.empty()) return;
    check_kernels_present(package_, contents_.programs, kernels, devices, findings_);
    check_kernels_load(package_, kernels, devices, facts_, findings_, notices_);
  }

  void check_memory() {
    if (!facts_.memory_total || facts_.from.memory == Origin::unknown) {
      notices_.push_back("the memory of " + facts_.name() + " is not known");
      return;
    }
    const std::uint64_t total = *facts_.memory_total;
    for (const auto& program : contents_.programs) {
      const auto records = ProgramRecords::read(package_ / "cache", program);
      if (!records) continue;
      std::string why;
      switch (fit_memory(records->peak_device_bytes(), facts_.memory_available.value_or(total),
                         memory_margin(total), facts_.name(), &why)) {
        case MemoryFit::fits:
          break;
        case MemoryFit::unknown:
          notices_.push_back("bin/" + program + ": " + why);
          break;
        case MemoryFit::too_little:
          add(finding_code::space, "bin/" + program + ": " + why,
              "let the program need less, or choose a larger board");
          break;
      }
    }
  }

  void check_disk() {
    if (!facts_.disk_free || facts_.from.disk == Origin::unknown) return;
    constexpr std::uint64_t slack = std::uint64_t{1} << 20U;
    std::uint64_t wanted = slack + fs::file_size(package_ / PackageContents::path);
    for (const auto& file : contents_.files) wanted += file.size;
    if (wanted <= *facts_.disk_free) return;
    add(finding_code::space,
        "wanted " + readable_size(wanted) + " free at " + facts_.destination + ", " +
            facts_.name() + " has " + readable_size(*facts_.disk_free),
        "remove old releases there, or name another --dest");
  }

  const fs::path& package_;
  const BoardFacts& facts_;
  std::vector<std::string>& notices_;
  PackageContents contents_;
  std::vector<PackagedFile> files_;
  bool whole_ = true;  // every file is as the manifest says
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine(const fs::path& package, const BoardFacts& facts,
                             std::vector<std::string>* notices) {
  std::vector<std::string> untold;
  return Examination(package, facts, notices != nullptr ? *notices : untold).run();
}

}  // namespace teeny::tool
