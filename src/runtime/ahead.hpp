#pragma once

#include <filesystem>
#include <vector>

#include "flags.hpp"

#include "teeny/target/options.hpp"

namespace teeny::detail {

/// The devices and options of a command line against the tables, with nothing done yet.
/// Error(usage) naming option or variable (TEENYC_PTX_VERSION is heard for cuda when its key is
/// absent).
[[nodiscard]] std::vector<CompileRequest> read_requests(const std::vector<DeviceFlag>& devices);

/// Compiles every kernel of this program for every request, in parallel, and leaves the program's
/// records beside them. Progress goes to stderr, a line for each artifact to stdout. Returns the
/// exit code: kernels that fail are all reported, and then nothing is recorded.
[[nodiscard]] int compile_ahead(const std::vector<CompileRequest>& requests,
                                const std::filesystem::path& cache_directory, bool force);

/// The lines of --list.
[[nodiscard]] int list_kernels();

}  // namespace teeny::detail
