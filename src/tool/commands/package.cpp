#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/commands/devices.hpp"
#include "tool/commands/programs.hpp"
#include "tool/commands/project_defaults.hpp"
#include "tool/commands/selection.hpp"
#include "tool/installation.hpp"
#include "tool/package/elf_check.hpp"
#include "tool/package/kernels.hpp"
#include "tool/package/manifest.hpp"
#include "tool/package/own_check.hpp"
#include "tool/package/staging.hpp"
#include "tool/package/table.hpp"
#include "tool/sysroot/verify.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/target/board_json.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct PackageOptions {
  std::string target;
  Selection selection;
  DeviceFlags devices;
  std::optional<std::string> destination;
  std::vector<std::string> data;
  std::vector<DeviceArgument> device_arguments;
  std::optional<std::string> refused_cache_directory;
  bool force = false;
};

// What the command line leaves out comes from the project's teeny.toml.
PackageOptions completed(PackageOptions options) {
  const ProjectDefaults defaults("package");
  options.target = defaults.target(options.target);
  options.device_arguments = defaults.devices(options.devices.arguments(false));
  defaults.add_programs(options.selection);
  options.data = defaults.data(options.data);
  options.destination = defaults.destination(options.destination);
  return options;
}

/// What the command line asks for, checked against the tables before anything runs.
struct Plan {
  Board board;
  std::vector<BoardRequest> requests;
  std::vector<DeviceArgument> devices;  ///< with completed options
};

Plan make_plan(const PackageOptions& options) {
  if (options.refused_cache_directory) {
    throw Error(ErrorKind::usage, "package takes no --cache-dir: kernels go to <dest>/cache",
                "leave it out, or say --dest");
  }
  Plan plan;
  plan.board = find_board(options.target);
  for (const auto& argument : options.device_arguments) {
    plan.requests.push_back(check_device_for_board(argument, plan.board));
    const auto& request = plan.requests.back();
    plan.devices.push_back({argument.device, request.options});
  }
  if (options.selection.bins.empty() && options.selection.examples_named.empty()) {
    throw Error(ErrorKind::usage, "package wants a program: --bin N (may repeat) or --example N");
  }
  for (const auto& file : options.data) {
    if (!fs::is_regular_file(file)) {
      throw Error(ErrorKind::usage, "--data: there is no file " + file);
    }
  }
  for (const auto& request : plan.requests) {
    if (!request.appended.empty()) {
      log(LogLevel::notice, "--device " + request.request.device + ": from " +
                                plan.board.full_name() + ": " + join(request.appended, ","));
    }
    if (const auto idle = idle_notice(plan.board, request.request.target)) {
      log(LogLevel::notice, *idle);
    }
  }
  return plan;
}

fs::path destination_of(const PackageOptions& options, const Plan& plan, const fs::path& root,
                        const std::string& name) {
  const fs::path given = options.destination ? fs::path(*options.destination)
                                             : packages_of(root, options.target, plan.board) / name;
  if (given.empty()) throw Error(ErrorKind::usage, "--dest is empty");
  fs::path path = fs::absolute(given).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// The program without its symbols, as bytes. What strips it may know the build directory alone.
std::string stripped(const BuildTree& tree, const fs::path& program) {
  const auto& cache = tree.codemodel().cache;
  const auto tool = cache.find("CMAKE_STRIP");
  if (tool == cache.end() || tool->second.empty() ||
      tool->second.find("NOTFOUND") != std::string::npos) {
    throw Error(ErrorKind::environment, "the toolchain for " + tree.where() + " has no strip",
                "install its binutils");
  }
  const fs::path result = tree.directory() / ".teeny" / "stripped";
  const auto ended = run(
      tree.tool_command({tool->second, "--strip-all", "-o", result.string(), program.string()}));
  if (ended.exit_code != 0) {
    throw Error(ErrorKind::environment,
                tool->second + " failed on " + program.string() + ": " + ended.error);
  }
  return read_file(result);
}

std::vector<std::string> words_between_gaps(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  for (;;) {
    const auto gap = line.find("  ", from);
    cells.push_back(line.substr(from, gap == std::string::npos ? gap : gap - from));
    if (gap == std::string::npos) return cells;
    from = line.find_first_not_of(' ', gap);
    if (from == std::string::npos) return cells;
  }
}

void compile_kernels(const fs::path& program, const Plan& plan, const fs::path& cache, bool force,
                     std::vector<std::vector<std::string>>& table) {
  AotRun aot{program, plan.devices, cache.string(), force, true};
  const auto result = run_aot_program(aot);
  if (result.exit_code != 0) {
    throw Error(ErrorKind::input,
                program.filename().string() + " could not compile its kernels (see above)", {},
                result.exit_code);
  }
  for (const auto& line : split(result.output, '\n')) {
    if (!line.empty()) table.push_back(words_between_gaps(line));
  }
}

void copy_data(const PackageOptions& options, const fs::path& package) {
  std::set<std::string> names;
  for (const auto& file : options.data) {
    const std::string name = fs::path(file).filename().string();
    if (!names.insert(name).second) {
      throw Error(ErrorKind::usage, "--data: two files are called " + name);
    }
    write_file(package / "data" / name, read_file(file));
  }
}

std::vector<std::pair<std::string, std::string>> tools_of(
    const BuildTree& tree, const std::vector<PackagedKernel>& kernels) {
  std::set<std::string> assemblers;
  for (const auto& kernel : kernels) {
    if (const auto version = parse_assembler(kernel.info.assembler)) {
      assemblers.insert(version->name());
    }
  }
  std::vector<std::pair<std::string, std::string>> tools = {
      {"teeny", TEENY_VERSION},
      {"teenyc", std::string(trim(read_file(teenyc_path().string() + ".identity")))},
      {"cxx", tree.codemodel().compiler}};
  if (!assemblers.empty())
    tools.emplace_back("ptxas", join({assemblers.begin(), assemblers.end()}, ", "));
  return tools;
}

// Which assemblers there are is found out before anything is built. The programs that compile the
// kernels look for them in the same places.
void check_assemblers(const Plan& plan) {
  std::optional<FoundAssemblers> found;
  for (const auto& request : plan.requests) {
    if (!request.request.wants_machine_code()) continue;
    if (!found) found = find_assemblers(teenyc_path());
    const CudaTarget& target = request.request.target.cuda();
    const Assembler assembler =
        require_assembler(*found, *target.driver, target.capability, target.ptx_version);
    log(LogLevel::notice, "machine code of " + target.capability.name() + " for driver " +
                              target.driver->name() + ": " + assembler_name(assembler.version) +
                              " (" + assembler.program.string() + ")");
  }
}

// What a program takes of the libraries that the board itself has, by the copy of them.
std::vector<std::string> libraries_in(const fs::path& sysroot, const std::string& triple,
                                      const std::vector<std::string>& wanted) {
  std::vector<std::string> found;
  if (sysroot.empty()) return found;
  auto folders = library_folders(sysroot, triple);
  for (const auto& folder : driver_library_folders(sysroot, triple)) folders.push_back(folder);
  for (const auto& library : wanted) {
    std::error_code ignored;
    if (std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
          return fs::exists(folder / library, ignored);
        })) {
      found.push_back(library);
    }
  }
  return found;
}

void describe_elf(const fs::path& package, const std::vector<std::string>& programs,
                  const Board& board, const fs::path& sysroot, Manifest& manifest,
                  std::vector<Finding>& findings) {
  for (const auto& program : programs) {
    const std::string path = "bin/" + program;
    const ElfInfo elf = read_elf_file(package / path);
    const auto on_board = libraries_in(sysroot, board.triple, elf.needed);
    for (auto& finding : check_elf(elf, path, board, on_board)) {
      findings.push_back(std::move(finding));
    }
    manifest.elf_needs.push_back(
        {path, elf_machine_name(elf.machine), elf.interpreter, elf.needed, highest_versions(elf)});
  }
}

void print_summary(const Manifest& manifest, const fs::path& destination,
                   std::uint64_t manifest_size, const std::vector<std::vector<std::string>>& table,
                   const std::string& id) {
  std::uint64_t total = manifest_size;
  for (const auto& file : manifest.files) total += file.size;
  std::vector<std::vector<std::string>> rows = {
      {"KERNEL", "RUNS ON", "FORM", "REGISTERS", "SPILLS", "SHARED", "SIZE", "TIME"}};
  rows.insert(rows.end(), table.begin(), table.end());
  std::cout << aligned(rows);
  for (const auto& elf : manifest.elf_needs) {
    std::cout << elf.path << ": " << elf.machine;
    for (const auto& [family, number] : elf.versions) std::cout << ", " << family << "_" << number;
    std::cout << "\n";
  }
  std::cout << manifest.files.size() + 1 << " files, " << readable_size(total) << ", release "
            << id.substr(0, 12) << "\n"
            << destination.string() << "\n";
}

int run_package(const PackageOptions& options) {
  const Plan plan = make_plan(options);
  static_cast<void>(teenyc_path());
  check_assemblers(plan);
  const fs::path root = find_project_root(fs::current_path());
  BuildTree cross(root, plan.board, options.selection);
  cross.configure();
  const auto targets = cross.selected();
  BuildTree host(root, std::nullopt, options.selection);
  host.configure();
  const auto host_targets = host.selected();
  const auto project = cross.codemodel().cache.find("CMAKE_PROJECT_NAME");
  const std::string name = targets.size() == 1 || project == cross.codemodel().cache.end()
                               ? targets.at(0).name_on_disk
                               : project->second;
  const fs::path destination = destination_of(options, plan, root, name);
  const Staging staging(destination);
  const fs::path& package = staging.directory();

  Manifest manifest;
  log(LogLevel::notice, "building for " + cross.where());
  cross.build(targets);
  for (const auto& target : targets) {
    const fs::path built = cross.artifact(target);
    write_file(package / "bin" / built.filename(),
               options.selection.no_release ? read_file(built) : stripped(cross, built), 0755);
    manifest.programs.push_back(built.filename().string());
  }
  std::sort(manifest.programs.begin(), manifest.programs.end());
  log(LogLevel::notice, "building for this machine, to compile the kernels");
  host.build(host_targets);
  std::vector<std::vector<std::string>> table;
  for (const auto& target : host_targets) {
    compile_kernels(host.artifact(target), plan, package / "cache", options.force, table);
  }
  copy_data(options, package);
  write_file(package / PackageContents::board_path, board_to_json(plan.board));
  staging.normalise();

  std::vector<Finding> findings;
  std::vector<CompileRequest> requests;
  for (const auto& request : plan.requests) requests.push_back(request.request);
  for (const auto& device : plan.devices) {
    manifest.devices.emplace_back(device.device, device.options.value_or(""));
  }
  manifest.name = name;
  manifest.board = plan.board.full_name();
  manifest.triple = plan.board.triple;
  manifest.kernels = list_kernels(package, manifest.programs, findings);
  manifest.peak_device_bytes = peak_device_bytes(package, manifest.programs);
  manifest.tools = tools_of(cross, manifest.kernels);
  std::vector<std::string> notices;
  check_kernels_complete(package, manifest.programs, manifest.kernels, plan.board, requests,
                         findings, notices);
  const fs::path& sysroot = cross.toolchain().sysroot;
  describe_elf(package, manifest.programs, plan.board, sysroot, manifest, findings);
  const std::string what = "the package would not run on " + plan.board.full_name() + ":";
  throw_findings(findings, what);
  for (const auto& notice : notices) log(LogLevel::notice, notice);
  manifest.files = list_files(package);
  const std::string json = manifest.to_json();
  write_file(package / Manifest::path, json);
  for (const auto& program : manifest.programs) {
    run_own_check(package, program, plan.board, sysroot, findings);
  }
  throw_findings(findings, what);
  staging.publish();
  print_summary(manifest, destination, json.size(), table, sha256_hex(json));
  return 0;
}

}  // namespace

void add_package(CLI::App& app, Session& session) {
  auto options = std::make_shared<PackageOptions>();
  auto* command = app.add_subcommand(
      "package", "Build programs and their kernels for a board, into one closed directory");
  add_target(*command, options->target);
  add_toolchain(*command, options->selection);
  add_selection(*command, options->selection, false);
  options->devices.add_to(*command);
  command
      ->add_option("--dest", options->destination,
                   "where the package goes; default build/package/TARGET/NAME of the project")
      ->type_name("DIR");
  command->add_option("--data", options->data, "a file for data/; may repeat")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_flag("--force", options->force, "compile also kernels that are there already");
  command->add_option("--cache-dir", options->refused_cache_directory)->group("");
  command->footer(
      "What the command line leaves out comes from the project's teeny.toml.\n"
      "What --options leaves out and the board knows (capability, driver, triple, cpu; never "
      "ptx-version) is added and printed.\n"
      "CUDA kernels are packaged as PTX and as machine code that fits the board's driver; "
      "machine-code=no leaves\nthe latter to the driver, at every start.\n"
      "The packaged programs check themselves before the package takes its place, under qemu-user "
      "where that is needed\nand there.\n"
      "Example:\n  teeny package --target jetson-orin-nano --example image_filter --device cuda "
      "\\\n"
      "      --options \"capability=sm_87,ptx-version=82\" --device cpu");
  command->callback([options, &session] {
    session.run = [options] { return run_package(completed(*options)); };
  });
}

}  // namespace teeny::tool
