#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"
#include "teeny/target/assembler.hpp"

namespace teeny {

/// teenyc as found: by TEENYC_PATH, else beside the executable, else on PATH.
struct CompilerLocation {
  std::filesystem::path program;
  std::string identity;  ///< from `<program>.identity`, so that a hit starts no process
};
/// nullopt when there is none (a board). A TEENYC_PATH that names nothing is Error(environment).
[[nodiscard]] std::optional<CompilerLocation> find_compiler();

/// A pool of resident teenyc processes; thread-safe, each request takes an idle one or starts one
/// (at most `limit`). A process that aborts, crashes, hangs past TEENYC_TIMEOUT (seconds, 60) or
/// breaks the protocol is replaced, and the request fails with an Error that names the kernel, what
/// happened, and the file that keeps its IR.
class CompilerPool {
 public:
  explicit CompilerPool(CompilerLocation location, int limit = 0);  ///< 0: as many as cores
  ~CompilerPool();
  [[nodiscard]] Artifact compile(const ir::Kernel& kernel, const std::string& fingerprint,
                                 const Target& target);
  /// Machine code for a kernel's PTX by the assembler `program`, which is of that version; `key` is
  /// left to the caller. An assembler that fails, hangs past TEENYC_TIMEOUT or writes what is no
  /// machine code is Error(input), with the file that keeps the PTX.
  [[nodiscard]] Artifact assemble(const Artifact& ptx, const std::filesystem::path& program,
                                  AssemblerVersion version);
  [[nodiscard]] const CompilerLocation& location() const noexcept { return location_; }

 private:
  struct State;
  struct Job;
  [[nodiscard]] Artifact exchange(const Job& job);
  CompilerLocation location_;
  std::unique_ptr<State> state_;
};

/// Finds or compiles: a hit reads one file and starts nothing; a miss takes the key's lock, looks
/// again, compiles and publishes. `force` compiles in any case. Without a compiler a miss is the
/// miss error. Returns the artifact's path.
[[nodiscard]] std::filesystem::path compile_to_cache(const ir::Kernel& kernel, const Target& target,
                                                     bool force,
                                                     const std::filesystem::path& cache_directory,
                                                     bool* hit = nullptr,
                                                     double* milliseconds = nullptr);

/// The same with a pool of the caller's own, and a fingerprint that is already known.
[[nodiscard]] std::filesystem::path compile_to_cache(CompilerPool& pool, const ir::Kernel& kernel,
                                                     const std::string& fingerprint,
                                                     const Target& target, bool force,
                                                     const std::filesystem::path& cache_directory,
                                                     bool* hit = nullptr,
                                                     double* milliseconds = nullptr);

}  // namespace teeny
