#pragma once

#include <filesystem>

#include "backend.hpp"

#include "teeny/cache/artifact.hpp"
#include "teeny/lang/instance.hpp"

namespace teeny::detail {

/// A kernel's code and the file it is in.
struct FoundCode {
  Artifact artifact;
  std::filesystem::path path;
};

/// Finds `instance`'s code for a device. On a board: by the record that `aot` left for its type,
/// without tracing; a type without a record is traced and found by fingerprint. With teenyc at
/// hand: traced, found by its exact key, compiled (with a notice) when it is not there.
/// Error(input), the miss message, when there is no code; Error(input) for code that is damaged or
/// is not this kernel's.
[[nodiscard]] FoundCode find_code(const KernelInstance& instance, const Backend& backend);

/// Error(input) unless the code in `path` is called as this program calls `instance`: launch ABI
/// and parameters.
void check_callable(const KernelInstance& instance, const ArtifactInfo& info,
                    const std::filesystem::path& path);

}  // namespace teeny::detail
