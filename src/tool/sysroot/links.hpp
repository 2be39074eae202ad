#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace teeny::tool {

/// What was found of the symbolic links below a root, each as "usr/lib/libm.so -> /lib/libm.so.6".
struct LinkReport {
  std::size_t links = 0;
  std::size_t mended = 0;             ///< rewritten: absolute ones and those of `outside`
  std::vector<std::string> outside;   ///< relative ones that climbed above the root
  std::vector<std::string> dangling;  ///< what they point to is not there
};

/// Makes every link below `root` stay inside it, as if `root` were `/`: an absolute target becomes
/// relative, one that climbs above the root ends at it. Links that are right (a merged /usr's
/// `lib -> usr/lib`) are left as they are. Each is replaced by a rename.
LinkReport mend_links(const std::filesystem::path& root);

}  // namespace teeny::tool
