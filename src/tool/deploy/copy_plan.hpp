#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tool/package/manifest.hpp"

namespace teeny::tool {

/// What has to be done to a release that is being made on a board until it is the wanted one.
struct CopyPlan {
  std::vector<std::string> kept;  ///< there already, from an attempt that was cut off
  /// From the release that lends its files: path there, and the file as it shall be.
  std::vector<std::pair<std::string, PackagedFile>> taken;
  std::vector<PackagedFile> sent;
  std::vector<std::string> removed;  ///< there, and not as wanted: half a file, or no part of it
  std::uint64_t sent_bytes = 0;      ///< of the files' contents
};

/// By digest and not by size, time or name: a file that only moved is not sent. `lender` may be
/// empty.
[[nodiscard]] CopyPlan plan_copy(const std::vector<PackagedFile>& wanted,
                                 const std::vector<PackagedFile>& there,
                                 const std::vector<PackagedFile>& lender);

}  // namespace teeny::tool
