#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"
#include "teeny/target/loading.hpp"

namespace teeny {

/// Where kernels are looked for, in this order: `cache/` beside the executable's directory
/// (`<dir>/../cache`) if it exists, else `<dir>/cache`; TEENYC_CACHE_DIR; /tmp/teenyc_cache where
/// it is absent or ours (made 0700), else /tmp/teenyc_cache-<uid>.
[[nodiscard]] std::filesystem::path default_cache_dir();

/// One directory of artifacts. Reading never writes. Layout and key: docs/formats.md.
class Cache {
 public:
  explicit Cache(std::filesystem::path directory);
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// `<kernel>-<fingerprint>/<short target>.<key>.<ext>` under the directory.
  [[nodiscard]] std::filesystem::path path_of(const ArtifactInfo& info) const;

  /// The artifact with exactly this key, verified; nullopt when there is none. A damaged one is
  /// Error(input).
  [[nodiscard]] std::optional<Artifact> find(std::string_view kernel, std::string_view fingerprint,
                                             const Target& target, std::string_view key) const;
  /// Every artifact file of one kernel's fingerprint, sorted by name; contents not verified.
  [[nodiscard]] std::vector<std::filesystem::path> list(std::string_view kernel,
                                                        std::string_view fingerprint) const;
  /// The best artifact of that fingerprint for a device, whatever compiler made it (a board has
  /// none). Error(input): the miss message (kernel, what was wanted, what is there, why it does not
  /// fit).
  [[nodiscard]] Artifact choose_cuda(std::string_view kernel, std::string_view fingerprint,
                                     const DeviceFacts& device) const;
  [[nodiscard]] Artifact choose_cpu(std::string_view kernel, std::string_view fingerprint,
                                    const CpuTarget& host) const;

  /// Publishes: private name, fsync, rename. Returns the path.
  std::filesystem::path publish(const Artifact& artifact) const;
  /// Stores the kernel's IR text beside its artifacts (kernel.tir).
  void publish_ir(const ir::Kernel& kernel, std::string_view fingerprint) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace teeny
