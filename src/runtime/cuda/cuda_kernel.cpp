#include "cuda_kernel.hpp"

#include <array>
#include <chrono>
#include <cstdio>

#include "cuda_backend.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

// What a block has without asking; more must be allowed for each function.
constexpr u64 plain_shared_bytes = 48 * 1024;
constexpr std::size_t log_bytes = 16 * 1024;

using Clock = std::chrono::steady_clock;

std::string milliseconds_since(Clock::time_point began) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms",
                std::chrono::duration<double, std::milli>(Clock::now() - began).count());
  return text.data();
}

// The driver's log, indented below a message; empty when it said nothing.
std::string said(const std::string& log) {
  const std::string_view text = trim(std::string_view(log.c_str()));
  return text.empty() ? std::string() : "\nthe driver said: " + std::string(text);
}

// The kernel, what it wants a block to have, and what the device gives: all before a launch, to
// which the driver would answer "invalid value".
Error too_much(const CudaBackend& backend, const ArtifactInfo& info, const std::string& wanted,
               const std::string& has, const std::string& lower) {
  return Error(ErrorKind::board,
               "kernel " + info.kernel + ": wanted " + wanted + " a block, device " +
                   backend.name() + " (" + backend.facts()->capability.name() + ") has " + has,
               "lower " + lower + ", and compile it again");
}

void check_needs(const CudaBackend& backend, const ArtifactInfo& info) {
  const DeviceAttributes& has = backend.attributes();
  if (info.shared_bytes > has.shared_bytes_per_block) {
    throw too_much(backend, info, std::to_string(info.shared_bytes) + " bytes of shared memory",
                   std::to_string(has.shared_bytes_per_block),
                   "the kernel's tile sizes or its num_stages");
  }
  if (info.threads > has.max_threads_per_block) {
    throw too_much(backend, info, std::to_string(info.threads) + " threads",
                   std::to_string(has.max_threads_per_block), "the kernel's num_warps");
  }
}

cuda::Module load_module(const CudaBackend& backend, const Artifact& artifact,
                         const fs::path& path) {
  std::string info_log(log_bytes, '\0');
  std::string error_log(log_bytes, '\0');
  // The driver takes sizes as values in place of pointers.
  std::array<int, 4> options = {static_cast<int>(cuda::JitOption::info_log),
                                static_cast<int>(cuda::JitOption::info_log_size),
                                static_cast<int>(cuda::JitOption::error_log),
                                static_cast<int>(cuda::JitOption::error_log_size)};
  const auto size = reinterpret_cast<void*>(log_bytes - 1);
  std::array<void*, 4> values = {info_log.data(), size, error_log.data(), size};
  cuda::Module module = nullptr;
  const cuda::Result result = backend.driver().module_load(&module, artifact.code.c_str(),
                                                           static_cast<unsigned>(options.size()),
                                                           options.data(), values.data());
  if (result == 0) return module;
  const DeviceFacts facts = *backend.facts();
  throw Error(ErrorKind::board,
              "device " + backend.name() + " (" + backend.description() + ") refuses " +
                  path.string() + ", code for " + runs_on(artifact.info) +
                  (artifact.info.ptx_version ? ", PTX " + artifact.info.ptx_version->name() : "") +
                  ": " + backend.driver().describe(result) + said(error_log) +
                  (said(error_log).empty() ? said(info_log) : ""),
              "compile kernel " + artifact.info.kernel + " for this device (capability=" +
                  facts.capability.name() + ",driver=" + facts.driver.name() + ")");
}

cuda::Module load_announced(CudaBackend& backend, const Artifact& artifact, const fs::path& path) {
  const ArtifactInfo& info = artifact.info;
  const Clock::time_point began = Clock::now();
  if (info.kind != ArtifactKind::ptx) {
    const cuda::Module module = load_module(backend, artifact, path);
    log(LogLevel::debug, "kernel " + info.kernel + ": loaded machine code for " + runs_on(info) +
                             ", " + std::to_string(artifact.code.size()) + " bytes of " +
                             path.string() + ", in " + milliseconds_since(began));
    return module;
  }
  const std::string what =
      "kernel " + info.kernel + ": PTX " + info.ptx_version->name() + " for " + runs_on(info);
  log(LogLevel::notice, what + ": there is no machine code for " +
                            backend.facts()->capability.name() + ", so the driver of " +
                            backend.name() + " compiles it now");
  const cuda::Module module = load_module(backend, artifact, path);
  log(LogLevel::notice, what + ": compiled in " + milliseconds_since(began));
  backend.note_idle(*info.capability);
  return module;
}

// What the code itself says it can run with, registers included. Returns the shared memory that a
// block of it has besides what a launch asks for.
u64 check_function(const CudaBackend& backend, const ArtifactInfo& info, cuda::Function function) {
  const auto get = [&](cuda::FunctionAttribute which) {
    int value = 0;
    backend.driver().check(backend.driver().function_get(&value, static_cast<int>(which), function),
                           "cannot ask what kernel " + info.kernel + " needs");
    return value;
  };
  const int threads = get(cuda::FunctionAttribute::max_threads);
  if (info.threads > threads) {
    throw too_much(backend, info,
                   std::to_string(info.threads) + " threads of " +
                       std::to_string(get(cuda::FunctionAttribute::registers)) + " registers",
                   "registers for " + std::to_string(threads) + " threads",
                   "the kernel's num_warps, or give it max_registers");
  }
  const auto fixed = static_cast<u64>(get(cuda::FunctionAttribute::static_shared));
  const u64 most = backend.attributes().shared_bytes_per_block;
  if (info.shared_bytes + fixed > most) {
    throw too_much(backend, info,
                   std::to_string(info.shared_bytes + fixed) + " bytes of shared memory",
                   std::to_string(most), "the kernel's tile sizes or its num_stages");
  }
  return fixed;
}

}  // namespace

CudaKernel::~CudaKernel() {
  const Entered entered(backend_);
  if (entered.good()) backend_.driver().module_unload(module_);
}

std::unique_ptr<LoadedKernel> load_cuda_kernel(CudaBackend& backend, const Artifact& artifact,
                                               const fs::path& path) {
  const ArtifactInfo& info = artifact.info;
  check_needs(backend, info);
  const Entered entered(backend);
  entered.or_throw(backend);
  auto kernel =
      std::make_unique<CudaKernel>(info, backend, load_announced(backend, artifact, path));
  const cuda::Driver& driver = backend.driver();
  const cuda::Result found =
      driver.module_function(&kernel->function_, kernel->module_, info.kernel.c_str());
  if (found != 0) {
    throw Error(ErrorKind::input,
                path.string() + ": wanted the entry " + info.kernel +
                    ", found none: " + driver.describe(found),
                "remove the file and compile the kernel again");
  }
  const u64 fixed = check_function(backend, info, kernel->function_);
  if (info.shared_bytes + fixed > plain_shared_bytes) {
    driver.check(driver.function_set(kernel->function_,
                                     static_cast<int>(cuda::FunctionAttribute::max_dynamic_shared),
                                     static_cast<int>(info.shared_bytes)),
                 "cannot allow kernel " + info.kernel + " " + std::to_string(info.shared_bytes) +
                     " bytes of shared memory");
  }
  return kernel;
}

}  // namespace teeny::detail
