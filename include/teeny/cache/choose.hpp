#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/cache/artifact.hpp"
#include "teeny/target/loading.hpp"

namespace teeny {

/// Whether PTX or machine code fits a CUDA device, by what its description says; `no` too for code
/// of another kind, and for a description that lacks what the rule needs. `why` receives one line.
[[nodiscard]] Fit fit_cuda(const ArtifactInfo& info, const DeviceFacts& device,
                           std::string* why = nullptr);

/// The best of `candidates` for a CUDA device: exact machine code, then compatible machine code
/// (never on an integrated device), then PTX of the highest capability and version that loads. All
/// machine code is read and verified, the rest only where none of it fits exactly: a damaged file
/// that is read is Error(input). When none fits: Error(input), the miss message: kernel, what was
/// wanted, `where` was looked, what is there and why it does not fit.
[[nodiscard]] Artifact choose_for_cuda(std::string_view kernel,
                                       const std::vector<std::filesystem::path>& candidates,
                                       const std::string& where, const DeviceFacts& device);

/// The same for a CPU: code for this very processor, then the most demanding that it can run. All
/// candidates are read.
[[nodiscard]] Artifact choose_for_cpu(std::string_view kernel,
                                      const std::vector<std::filesystem::path>& candidates,
                                      const std::string& where, const CpuTarget& host);

}  // namespace teeny
