#include "tool/project/source_units.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

bool is_below(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

bool is_cxx(const fs::path& file) {
  static const std::set<std::string> extensions = {".c", ".cc",  ".cpp", ".cxx",
                                                   ".C", ".c++", ".CPP", ".cppm"};
  return extensions.count(file.extension().string()) != 0;
}

// Not every CMake tells it apart from the command: "... -o OBJECT -c SOURCE".
std::string object_of(const std::string& command) {
  const auto end = command.rfind(" -c ");
  const auto begin = command.rfind(" -o ", end);
  if (end == std::string::npos || begin == std::string::npos) return "";
  return command.substr(begin + 4, end - begin - 4);
}

}  // namespace

bool is_of_teeny(const TargetInfo& target) {
  const fs::path share = share_directory();
  return std::any_of(target.sources.begin(), target.sources.end(), [&share](const auto& source) {
    return fs::path(source).is_absolute() && is_below(source, share);
  });
}

bool is_object_of(const std::string& object, const TargetInfo& target) {
  return ("/" + object).find("/CMakeFiles/" + target.name + ".dir/") != std::string::npos;
}

bool is_own_file(const fs::path& root, const fs::path& file) {
  return is_below(file, root) && !is_below(file, root / "build" / "teeny") &&
         !is_below(file, share_directory());
}

std::vector<fs::path> own_sources(const BuildTree& tree, const std::vector<TargetInfo>& targets) {
  const fs::path path = tree.directory() / "compile_commands.json";
  const auto text = read_file_if_exists(path);
  if (!text) {
    throw Error(ErrorKind::environment, "CMake wrote no " + path.string(),
                "the generators Ninja and Unix Makefiles write one");
  }
  std::set<fs::path> files;
  try {
    for (const auto& entry : nlohmann::json::parse(*text)) {
      const fs::path file =
          (fs::path(entry.at("directory").get<std::string>()) / entry.at("file").get<std::string>())
              .lexically_normal();
      const std::string object = object_of(entry.at("command").get<std::string>());
      const bool wanted = targets.empty() || std::any_of(targets.begin(), targets.end(),
                                                         [&object](const auto& target) {
                                                           return is_object_of(object, target);
                                                         });
      if (wanted && is_cxx(file) && is_own_file(tree.root(), file)) files.insert(file);
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::environment, path.string() + " is not understood: " + error.what(),
                "remove " + tree.directory().string() + " and try again");
  }
  return {files.begin(), files.end()};
}

}  // namespace teeny::tool
