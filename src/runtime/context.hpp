#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "teeny/cache/compiler_client.hpp"
#include "teeny/cache/records.hpp"

namespace teeny::detail {

/// Where this process finds its kernels.
struct KernelSources {
  std::filesystem::path cache;
  /// Set where the cache is a package's, or lies beside the executable and there is no compiler:
  /// what `aot` left for this program. Elsewhere records are not believed, as the program may have
  /// been built anew since.
  std::optional<ProgramRecords> records = {};
  /// Empty on a board, and for a packaged program, whose cache is closed.
  std::optional<CompilerLocation> compiler = {};
};

/// Found when first asked for, then kept. Error as `default_cache_dir` and `find_compiler` say.
[[nodiscard]] std::shared_ptr<const KernelSources> kernel_sources();

/// The cache directory of this process: the one that was set, else the default.
[[nodiscard]] std::filesystem::path cache_directory();
/// From now on (the --cache-dir of a plain run).
void set_cache_directory(const std::filesystem::path& directory);

/// Error(usage) where `directory` is the cache of the package that this program lies in, or
/// anywhere in the package: it is closed, and its manifest lists all of it.
void refuse_closed_cache(const std::filesystem::path& directory);
/// What records call this program: the file name of its executable.
[[nodiscard]] std::string program_name();

}  // namespace teeny::detail
