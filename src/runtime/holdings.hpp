#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "traced.hpp"

#include "teeny/cache/artifact.hpp"
#include "teeny/runtime/device.hpp"

namespace teeny::detail {

/// One artifact of a kernel, as its file is.
struct HeldArtifact {
  std::filesystem::path path;
  std::string name;                       ///< below the cache
  std::uint64_t bytes = 0;                ///< of the file
  std::optional<Artifact> artifact = {};  ///< absent: see `problem`
  std::string problem = {};               ///< why it cannot be used: missing, cut short, altered
};

/// A kernel of this program and what its cache holds of it: what its record names, or, without a
/// record, what lies under its fingerprint, just as a launch without a compiler would find it.
struct Holding {
  const KernelInstance* instance;
  std::optional<Traced> traced = {};  ///< absent: it does not trace, and `trace_problem` says why
  std::string trace_problem = {};
  const KernelRecord* record = nullptr;
  std::vector<HeldArtifact> artifacts = {};
};

/// Of every kernel of this program, by record key. Nothing is compiled or written. Error as the
/// file system's.
[[nodiscard]] std::vector<Holding> holdings(const KernelSources& sources);

[[nodiscard]] DeviceKind device_kind(const ArtifactInfo& info);
[[nodiscard]] std::string to_string(DeviceKind kind);  ///< "cuda", "cpu"

}  // namespace teeny::detail
