#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/commands/devices.hpp"
#include "tool/package/findings.hpp"
#include "tool/package/manifest.hpp"

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// Every artifact under `package`/cache, read and verified (a damaged one is a finding), with the
/// C++ types from the programs' records.
[[nodiscard]] std::vector<PackagedKernel> list_kernels(const std::filesystem::path& package,
                                                       const std::vector<std::string>& programs,
                                                       std::vector<Finding>& findings);

/// Whether every kernel that a program's record names is there for each of `devices` ("cuda",
/// "cpu"). An empty cache and a program without a record are findings too.
void check_kernels_present(const std::filesystem::path& package,
                           const std::vector<std::string>& programs,
                           const std::vector<PackagedKernel>& kernels,
                           const std::vector<std::string>& devices, std::vector<Finding>& findings);

/// What a package that was just made for a board must be besides: every artifact loads there, and
/// each kernel has machine code that does, where `requests` want any. A kernel that the board's
/// driver has to compile is given a line in `notices`.
void check_kernels_complete(const std::filesystem::path& package,
                            const std::vector<std::string>& programs,
                            const std::vector<PackagedKernel>& kernels, const Board& board,
                            const std::vector<CompileRequest>& requests,
                            std::vector<Finding>& findings, std::vector<std::string>& notices);

/// The most device memory that any of the programs declares; nullopt where one declares nothing, or
/// has no record.
[[nodiscard]] std::optional<std::uint64_t> peak_device_bytes(
    const std::filesystem::path& package, const std::vector<std::string>& programs);

/// What messages call a kernel: its type, or its name where the program keeps no record of it.
[[nodiscard]] const std::string& label_of(const PackagedKernel& kernel);
/// "cuda" or "cpu".
[[nodiscard]] std::string device_of(const ArtifactInfo& info);
/// The line for a kernel that `board`'s driver has to compile.
[[nodiscard]] std::string jit_notice(const std::string& kernel, const std::string& board);

}  // namespace teeny::tool
