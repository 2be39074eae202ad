#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "teeny/cache/compiler_client.hpp"
#include "teeny/target/assembler.hpp"

namespace teeny {

/// An assembler of this machine.
struct Assembler {
  std::filesystem::path program;
  AssemblerVersion version;
};

/// A file that could have been an assembler, and why it is none.
struct UnusableAssembler {
  std::filesystem::path program;
  std::string why;
};

struct FoundAssemblers {
  std::vector<Assembler> usable;  ///< the preferred ones first
  std::vector<UnusableAssembler> unusable;
};

/// Looks for assemblers: those that TEENY_PTXAS names (paths joined by ':') and no others, where it
/// is set; else those of the toolchain folder (`../share/teeny/toolchain` as seen from teenyc's
/// directory), on PATH, and in /usr/local/cuda*/bin. One of the toolchain folder has its version in
/// its directory's name; any other is asked with --version, once a process. Error(environment) for
/// a name in TEENY_PTXAS that leads to no assembler.
[[nodiscard]] FoundAssemblers find_assemblers(const std::filesystem::path& teenyc);

/// The toolchain folder of that teenyc, whether it is there or not.
[[nodiscard]] std::filesystem::path toolchain_directory(const std::filesystem::path& teenyc);
/// The directory below it for the assembler of that version: "ptxas-12.9.86", with bin/ptxas in it.
[[nodiscard]] std::string toolchain_name(AssemblerVersion version);

/// The assembler that makes machine code of `capability` for `driver` from PTX of `version`
/// (absent: the capability's floor), by `choose_assembler`. Error(environment): which one would do,
/// what is there and why it does not, and how to get one.
[[nodiscard]] Assembler require_assembler(const FoundAssemblers& found, DriverVersion driver,
                                          Capability capability, std::optional<PtxVersion> version);

/// Machine code for PTX that is in the cache: found, or assembled by teenyc and published. `ptx` is
/// its file, `target` the one it was compiled for. As `compile_to_cache`: a hit reads one file and
/// starts nothing. An assembler that fails is Error(input) that names the kernel and the file that
/// keeps its PTX.
[[nodiscard]] std::filesystem::path assemble_to_cache(
    CompilerPool& pool, const Assembler& assembler, const std::filesystem::path& ptx,
    const Target& target, bool force, const std::filesystem::path& cache_directory,
    bool* hit = nullptr, double* milliseconds = nullptr);

}  // namespace teeny
