#include "tool/sysroot/links.hpp"

#include <algorithm>

#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

/// A place below the root, reached as the board's kernel would.
struct Place {
  std::vector<std::string> parts = {};
  bool there = true;
  bool climbed = false;  ///< a `..` stood at the root
};

fs::path joined(const std::vector<std::string>& parts) {
  fs::path path;
  for (const auto& part : parts) path /= part;
  return path;
}

// As many links in a row as Linux follows.
constexpr int most_links = 40;

void follow(const fs::path& root, const std::string& target, Place& place, int& links_left) {
  if (!target.empty() && target.front() == '/') place.parts.clear();
  for (const auto& part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (place.parts.empty()) {
        place.climbed = true;
      } else {
        place.parts.pop_back();
      }
      continue;
    }
    const fs::path path = root / joined(place.parts) / part;
    std::error_code error;
    const auto status = fs::symlink_status(path, error);
    if (fs::is_symlink(status)) {
      if (--links_left < 0) {
        place.there = false;
        return;
      }
      follow(root, fs::read_symlink(path).string(), place, links_left);
      continue;
    }
    if (!fs::exists(status)) place.there = false;
    place.parts.push_back(part);
  }
}

// From one directory to a place, both below the root and written without links.
fs::path way(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::size_t common = 0;
  while (common < from.size() && common < to.size() && from[common] == to[common]) ++common;
  fs::path path;
  for (std::size_t i = common; i < from.size(); ++i) path /= "..";
  for (std::size_t i = common; i < to.size(); ++i) path /= to[i];
  return path.empty() ? fs::path(".") : path;
}

std::vector<std::string> parts_of(const fs::path& relative) {
  std::vector<std::string> parts;
  for (const auto& part : relative) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

void replace_link(const fs::path& link, const fs::path& target) {
  const fs::path fresh = link.parent_path() / ("." + link.filename().string() + ".teeny-new");
  std::error_code ignored;
  fs::remove(fresh, ignored);
  fs::create_symlink(target, fresh);
  fs::rename(fresh, link);
}

}  // namespace

LinkReport mend_links(const fs::path& root) {
  std::vector<fs::path> links;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_symlink()) links.push_back(entry.path());
  }
  std::sort(links.begin(), links.end());
  LinkReport report;
  report.links = links.size();
  for (const auto& link : links) {
    const std::string target = fs::read_symlink(link).string();
    const fs::path name = link.lexically_relative(root);
    const std::string shown = name.string() + " -> " + target;
    Place place{parts_of(name.parent_path())};
    const auto directory = place.parts;
    int links_left = most_links;
    follow(root, target, place, links_left);
    if (!place.there) report.dangling.push_back(shown);
    if (place.climbed) report.outside.push_back(shown);
    const bool absolute = target.front() == '/';
    if (!absolute && !place.climbed) continue;
    // The names on the way are kept where they can be: /etc/alternatives/x stays one.
    const auto named = parts_of(target);
    const bool plain = absolute && std::find(named.begin(), named.end(), "..") == named.end();
    std::vector<std::string> wanted = place.parts;
    if (plain) wanted.assign(named.begin() + 1, named.end());
    replace_link(link, way(directory, wanted));
    ++report.mended;
  }
  return report;
}

}  // namespace teeny::tool
