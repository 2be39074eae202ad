#include "ahead.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "cache/publish.hpp"
#include "context.hpp"
#include "report.hpp"
#include "traced.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/cache/records.hpp"
#include "teeny/lang/instance.hpp"
#include "teeny/runtime/declared_weights.hpp"
#include "teeny/runtime/memory_need.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

// What one device was asked for, and the assembler that makes its machine code, where it has one.
struct Request {
  const CompileRequest* options;
  std::optional<Assembler> assembler = {};
};

// One artifact that was made or found.
struct Made {
  fs::path path;
  ArtifactInfo info = {};
  std::uintmax_t bytes = 0;
  bool hit = false;
  double milliseconds = 0;
};

// One kernel for one device: PTX and machine code, or CPU code.
struct Task {
  const Traced* traced;
  const Request* request;
  std::vector<Made> made = {};
  std::optional<Error> error = {};
};

std::optional<std::string_view> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

LogLevel level_of(const std::string& name) {
  if (name == "error") return LogLevel::error;
  if (name == "warning") return LogLevel::warning;
  return name == "debug" ? LogLevel::debug : LogLevel::notice;
}

void describe(Made& made) {
  std::string bytes = read_file(made.path);
  made.bytes = bytes.size();
  made.info = Artifact::unpack(std::move(bytes), made.path).info;
}

void compile(Task& task, CompilerPool& pool, const fs::path& cache, bool force) {
  const Target& target = task.request->options->target;
  try {
    Made code;
    code.path = compile_to_cache(pool, task.traced->kernel, task.traced->fingerprint, target, force,
                                 cache, &code.hit, &code.milliseconds);
    describe(code);
    task.made.push_back(code);
    if (!task.request->assembler) return;
    Made assembled;
    assembled.path = assemble_to_cache(pool, *task.request->assembler, code.path, target, force,
                                       cache, &assembled.hit, &assembled.milliseconds);
    describe(assembled);
    task.made.push_back(std::move(assembled));
  } catch (const Error& error) {
    task.error = error;
  }
}

std::string outcome(const Task& task) {
  if (task.error) return "failed";
  double milliseconds = 0;
  bool hit = true;
  for (const Made& made : task.made) {
    hit = hit && made.hit;
    milliseconds += made.milliseconds;
  }
  return hit ? "already there" : fmt::format("{:.1f} ms", milliseconds);
}

void compile_all(std::vector<Task>& tasks, CompilerPool& pool, int jobs, const fs::path& cache,
                 bool force) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      Task& task = tasks[i];
      compile(task, pool, cache, force);
      log(LogLevel::notice,
          fmt::format("[{}/{}] {} for {}: {}", ++done, tasks.size(), label(*task.traced->instance),
                      task.request->options->target.short_name(), outcome(task)));
    }
  };
  std::vector<std::thread> threads;
  const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(jobs), tasks.size());
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
}

std::string form(const ArtifactInfo& info) {
  switch (info.kind) {
    case ArtifactKind::ptx:
      return "PTX " + (info.ptx_version ? info.ptx_version->name() : "?");
    case ArtifactKind::cubin:
      return "machine code, " + info.assembler;
    case ArtifactKind::shared_object:
      break;
  }
  return "shared object";
}

// "-" for what is not known before an assembler has seen it, and for what a CPU does not have.
std::string known(int value, const char* of) {
  return value < 0 ? std::string("-") : fmt::format("{} {}", value, of);
}

// A line an artifact: what it runs on, its form, what a thread and a block need, size and time.
void print_summary(const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    for (const Made& made : task.made) {
      const ArtifactInfo& info = made.info;
      fmt::print(
          "{}  {}  {}  {}  {}  {}  {} bytes  {}\n", label(*task.traced->instance), runs_on(info),
          form(info), known(info.registers, "registers"), known(info.spill_bytes, "bytes spilled"),
          info.capability
              ? fmt::format("{} bytes shared", info.shared_bytes + info.static_shared_bytes)
              : "-",
          made.bytes, made.hit ? "already there" : fmt::format("{:.1f} ms", made.milliseconds));
    }
  }
}

// Whether an artifact of an earlier record is one of another compiler, or the same as a new one but
// for its assembler.
bool is_superseded(const ArtifactInfo& old, const std::vector<Made>& made,
                   const std::string& identity) {
  return old.compiler != identity || std::any_of(made.begin(), made.end(), [&old](const Made& one) {
           return one.info.kind == old.kind && one.info.target == old.target;
         });
}

// What was there before for the same kernel and from the same compiler stays in its record, so that
// a second command for another device adds to the first.
void keep_earlier(ProgramRecords& records, const std::string& key, const ProgramRecords& earlier,
                  const Task& task, const std::string& identity, const fs::path& cache) {
  const KernelRecord* old = earlier.find(key);
  if (old == nullptr || old->fingerprint != task.traced->fingerprint) return;
  KernelRecord kept = *old;
  kept.artifacts.clear();
  for (const std::string& name : old->artifacts) {
    try {
      auto bytes = read_file_if_exists(cache / name);
      if (!bytes) continue;
      const ArtifactInfo info = Artifact::unpack(std::move(*bytes), cache / name).info;
      if (!is_superseded(info, task.made, identity)) kept.artifacts.push_back(name);
    } catch (const Error& error) {
      log(LogLevel::warning, error.message() + "; it is left out of the program's records");
    }
  }
  if (!kept.artifacts.empty()) records.add(key, kept);
}

void write_records(const std::vector<Task>& tasks, const fs::path& cache,
                   const std::string& identity) {
  const fs::path directory = ProgramRecords::path(cache, program_name()).parent_path();
  make_cache_directory(cache);
  make_shared_directory(directory);
  // Of two commands for two devices at a time, the later one must see what the earlier one wrote.
  const CacheLock lock(directory / ("." + program_name() + ".lock"), std::chrono::seconds(60));
  ProgramRecords records(program_name());
  std::optional<ProgramRecords> earlier;
  try {
    earlier = ProgramRecords::read(cache, program_name());
  } catch (const Error& error) {
    log(LogLevel::warning, error.message() + "; it is written anew");
  }
  for (const Task& task : tasks) {
    const KernelInstance& instance = *task.traced->instance;
    if (!instance.nameable) continue;
    const std::string key = instance.record_key();
    if (earlier) keep_earlier(records, key, *earlier, task, identity, cache);
    for (const Made& made : task.made) {
      records.add(key, {made.info.kernel,
                        label(*task.traced->instance),
                        task.traced->fingerprint,
                        {made.path.lexically_relative(cache).generic_string()}});
    }
  }
  records.set_peak_device_bytes(declared_memory_need());
  records.set_weights(declared_weights());
  records.write(cache);
}

// Before anything is compiled: an assembler that is missing is missing for every kernel.
std::vector<Request> with_assemblers(const std::vector<CompileRequest>& requests,
                                     const fs::path& teenyc) {
  std::vector<Request> result;
  for (const CompileRequest& request : requests) {
    result.push_back({&request});
    if (!request.wants_machine_code()) continue;
    const CudaTarget& target = request.target.cuda();
    try {
      result.back().assembler = require_assembler(find_assemblers(teenyc), *target.driver,
                                                  target.capability, target.ptx_version);
    } catch (const Error& error) {
      if (request.machine_code == MachineCodeOption::yes) throw;
      log(LogLevel::warning, error.message());
      log(LogLevel::warning,
          "only PTX is made, which the driver compiles at every start; " + error.next());
    }
  }
  return result;
}

int jobs_of(const std::vector<CompileRequest>& requests) {
  int jobs = 0;
  for (const CompileRequest& request : requests) jobs = std::max(jobs, request.jobs.value_or(0));
  return jobs > 0 ? jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

std::vector<CompileRequest> read_requests(const std::vector<DeviceFlag>& devices) {
  std::vector<CompileRequest> requests;
  const auto ptx_version = variable("TEENYC_PTX_VERSION");
  for (const DeviceFlag& flag : devices) {
    const std::string options = flag.options.value_or("");
    std::optional<CpuTarget> host;
    if (flag.device == "cpu" && !has_option(options, "cpu")) host = host_cpu_target();
    requests.push_back(parse_options(flag.device, options, ptx_version, host));
  }
  return requests;
}

int compile_ahead(const std::vector<CompileRequest>& requests, const fs::path& cache, bool force) {
  for (const CompileRequest& request : requests) {
    if (request.log_level) set_log_level(level_of(*request.log_level));
  }
  const auto compiler = find_compiler();
  if (!compiler) {
    throw Error(ErrorKind::environment,
                "wanted teenyc to compile this program's kernels, found none",
                "let TEENYC_PATH name it, or put it beside this program or on PATH");
  }
  const std::vector<Request> wanted = with_assemblers(requests, compiler->program);
  std::vector<Error> errors;
  const std::vector<Traced> traced = trace_all(errors);
  std::vector<Task> tasks;
  for (const Traced& kernel : traced) {
    for (const Request& request : wanted) tasks.push_back({&kernel, &request});
  }
  const int jobs = jobs_of(requests);
  {
    CompilerPool pool(*compiler, jobs);
    compile_all(tasks, pool, jobs, cache, force);
  }
  for (const Task& task : tasks) {
    if (task.error) errors.push_back(*task.error);
  }
  if (!errors.empty()) {
    int code = errors.front().exit_code();
    std::set<std::string> told;  // what is wrong with teenyc itself is the same for every kernel
    for (const Error& error : errors) {
      if (told.insert(error.what()).second) report(error);
      code = std::min(code, error.exit_code());
    }
    return code;
  }
  if (tasks.empty()) log(LogLevel::warning, "this program has no kernels");
  write_records(tasks, cache, compiler->identity);
  print_summary(tasks);
  std::size_t artifacts = 0;
  for (const Task& task : tasks) artifacts += task.made.size();
  log(LogLevel::notice,
      fmt::format("{} artifacts of {} kernels in {}", artifacts, traced.size(), cache.string()));
  return 0;
}

int list_kernels() {
  std::vector<Error> errors;
  for (const Traced& kernel : trace_all(errors)) {
    fmt::print("{}\t{}\t{}\n", kernel.instance->name, kernel.fingerprint, label(*kernel.instance));
  }
  for (const WeightNeed& need : declared_weights()) {
    fmt::print("weight {}: {}\n", need.name, to_string(need.type));
  }
  int code = errors.empty() ? 0 : errors.front().exit_code();
  for (const Error& error : errors) {
    report(error);
    code = std::min(code, error.exit_code());
  }
  return code;
}

}  // namespace teeny::detail
