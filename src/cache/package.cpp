#include "teeny/cache/package.hpp"

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

using nlohmann::json;

bool safe_path(const std::string& path) {
  const fs::path parsed(path);
  return !path.empty() && parsed.is_relative() &&
         std::none_of(parsed.begin(), parsed.end(),
                      [](const fs::path& part) { return part == ".." || part == "."; });
}

PackagedFile read_file_entry(const json& entry, const std::string& origin) {
  PackagedFile file;
  file.path = entry.at("path");
  if (!safe_path(file.path)) {
    throw Error(ErrorKind::input, origin + ": \"" + file.path + "\" is no path inside a package");
  }
  file.mode = static_cast<unsigned>(std::stoul(entry.at("mode").get<std::string>(), nullptr, 8));
  file.size = entry.at("size");
  file.sha256 = entry.at("sha256");
  return file;
}

}  // namespace

PackageContents PackageContents::from_json(const std::string& text, const std::string& origin) {
  try {
    const json root = json::parse(text);
    const std::string found = root.at("schema");
    if (found != schema) {
      throw Error(ErrorKind::input,
                  origin + ": wanted a package of schema " + schema + ", found " + found,
                  "use the teeny that made it, or make it again");
    }
    PackageContents contents;
    contents.name = root.at("name");
    contents.board = root.at("board");
    contents.triple = root.at("triple");
    contents.programs = root.at("programs").get<std::vector<std::string>>();
    for (const auto& entry : root.at("devices")) {
      contents.devices.emplace_back(entry.at("device"), entry.at("options"));
    }
    for (const auto& entry : root.at("files")) {
      contents.files.push_back(read_file_entry(entry, origin));
    }
    if (const auto peak = root.find("peak_device_bytes"); peak != root.end() && !peak->is_null()) {
      contents.peak_device_bytes = peak->get<std::uint64_t>();
    }
    return contents;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::input, origin + " is damaged: " + error.what(),
                "make the package again");
  }
}

PackageContents PackageContents::read(const fs::path& package) {
  const fs::path file = package / path;
  const auto text = read_file_if_exists(file);
  if (!text) {
    throw Error(ErrorKind::input, package.string() + " is no package: it has no " + path,
                "make one with `teeny package`");
  }
  return from_json(*text, file.string());
}

std::optional<std::string> file_problem(const fs::path& package, const PackagedFile& file) {
  const fs::path place = package / file.path;
  std::error_code failure;
  const auto size = fs::file_size(place, failure);
  if (failure == std::errc::no_such_file_or_directory) return file.path + ": missing";
  if (failure) return file.path + ": wanted a file that can be read, found: " + failure.message();
  if (size != file.size) {
    return file.path + ": altered: wanted " + std::to_string(file.size) + " bytes, found " +
           std::to_string(size);
  }
  try {
    const std::string digest = sha256_file(place);
    if (digest == file.sha256) return std::nullopt;
    return file.path + ": altered: wanted SHA-256 " + file.sha256 + ", found " + digest;
  } catch (const Error& error) {
    return file.path + ": " + error.message();
  }
}

}  // namespace teeny
