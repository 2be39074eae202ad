#include "tool/deploy/local_package.hpp"

#include <algorithm>

#include "tool/package/findings.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

LocalPackage LocalPackage::read(const fs::path& directory) {
  LocalPackage package;
  package.directory = fs::absolute(directory).lexically_normal();
  if (!package.directory.has_filename()) package.directory = package.directory.parent_path();
  package.manifest = PackageContents::read(package.directory);
  const std::string text = read_file(package.directory / PackageContents::path);
  package.id = sha256_hex(text);
  const auto differences = compare_files(package.manifest.files, list_files(package.directory));
  if (!differences.empty()) {
    throw Error(ErrorKind::input,
                package.directory.string() + " is not as its manifest says:\n  " +
                    join(differences, "\n  "),
                "make the package again", finding_code::incomplete);
  }
  package.files = package.manifest.files;
  package.files.push_back({PackageContents::path, 0644, text.size(), package.id});
  for (const auto& file : package.files) {
    package.size += file.size;
    if (file.path.find_first_of("\n\r") != std::string::npos) {
      throw Error(ErrorKind::input,
                  "a file of " + package.directory.string() +
                      " has a line break in its name, which a board's tools cannot list: " +
                      escape_bytes(file.path),
                  "rename the file and make the package again");
    }
  }
  return package;
}

std::string LocalPackage::program(const std::string& name) const {
  const auto& programs = manifest.programs;
  if (name.empty() && programs.size() == 1) return programs.front();
  if (!name.empty() && std::find(programs.begin(), programs.end(), name) != programs.end()) {
    return name;
  }
  throw Error(ErrorKind::usage,
              name.empty() ? "the package has " + std::to_string(programs.size()) +
                                 " programs; --bin says which one"
                           : "--bin " + name + ": the package has no such program",
              "its programs: " + join(programs, ", "));
}

std::string short_id(const std::string& id) { return id.substr(0, 12); }

}  // namespace teeny::tool
