#pragma once

#include <filesystem>
#include <string>

#include "traced.hpp"

namespace teeny::detail {

/// Lines that say where `wanted` first differs from the kernel of that fingerprint, by the text
/// that lies beside its code in the cache; or why that cannot be told. Each begins with a line
/// break.
[[nodiscard]] std::string difference_from(const std::filesystem::path& cache,
                                          const ir::Kernel& wanted, const std::string& fingerprint);

/// The same for a kernel that has no record: one that was changed has left its code under the same
/// name and another fingerprint. Empty where there is none, or more than one.
[[nodiscard]] std::string difference_from_other(const std::filesystem::path& cache,
                                                const Traced& traced);

}  // namespace teeny::detail
