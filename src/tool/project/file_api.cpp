#include "tool/project/file_api.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

using nlohmann::json;

constexpr const char* api = ".cmake/api/v1";
constexpr const char* client = "client-teeny";
// As cmake/Kernels.cmake calls them.
constexpr std::string_view kernels_suffix = ".kernels";

json read_reply(const fs::path& reply, const std::string& name) {
  return json::parse(read_file(reply / name));
}

// The index with the greatest name is the current one.
std::optional<fs::path> index_of(const fs::path& reply) {
  std::optional<fs::path> last;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(reply, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("index-", 0) != 0 || entry.path().extension() != ".json") continue;
    if (!last || name > last->filename().string()) last = entry.path();
  }
  return last;
}

TargetInfo read_target(const json& target, const std::string& project) {
  TargetInfo info;
  info.name = target.at("name");
  info.type = target.at("type");
  info.project = project;
  info.name_on_disk = target.value("nameOnDisk", "");
  info.source = target.at("paths").at("source");
  for (const auto& artifact : target.value("artifacts", json::array())) {
    info.artifacts.push_back(artifact.at("path"));
  }
  for (const auto& source : target.value("sources", json::array())) {
    info.sources.push_back(source.at("path"));
  }
  return info;
}

void read_codemodel(const fs::path& reply, const json& file, Codemodel& model) {
  // A single-configuration generator has one configuration.
  const auto& configuration = file.at("configurations").at(0);
  std::vector<std::string> projects;
  for (const auto& project : configuration.at("projects")) projects.push_back(project.at("name"));
  model.projects = projects;
  std::set<std::string> directories;
  for (const auto& entry : configuration.at("targets")) {
    const auto index = entry.at("projectIndex").get<std::size_t>();
    const json target = read_reply(reply, entry.at("jsonFile"));
    model.targets.push_back(read_target(target, projects.at(index)));
    for (const auto& group : target.value("compileGroups", json::array())) {
      for (const auto& include : group.value("includes", json::array())) {
        directories.insert(include.at("path").get<std::string>());
      }
    }
  }
  model.include_directories.assign(directories.begin(), directories.end());
}

void read_cmake_files(const json& file, Codemodel& model) {
  for (const auto& input : file.at("inputs")) {
    if (input.value("isCMake", false) || !input.value("isExternal", false)) continue;
    if (input.value("isGenerated", false)) continue;
    model.input_files.push_back(input.at("path"));
  }
}

void read_cache(const json& file, Codemodel& model) {
  for (const auto& entry : file.at("entries")) {
    model.cache[entry.at("name")] = entry.at("value");
    model.cache_types[entry.at("name")] = entry.at("type");
  }
}

void read_toolchains(const json& file, Codemodel& model) {
  for (const auto& toolchain : file.at("toolchains")) {
    if (toolchain.at("language") != "CXX") continue;
    const auto& compiler = toolchain.at("compiler");
    model.compiler_path = compiler.value("path", "");
    model.compiler = compiler.value("id", "") + " " + compiler.value("version", "");
  }
}

}  // namespace

bool TargetInfo::has_kernels_alone() const {
  return is_executable() && name.size() > kernels_suffix.size() &&
         name.compare(name.size() - kernels_suffix.size(), kernels_suffix.size(), kernels_suffix) ==
             0;
}

std::string TargetInfo::program() const {
  return has_kernels_alone() ? name.substr(0, name.size() - kernels_suffix.size()) : name;
}

bool TargetInfo::is_example() const {
  const fs::path directory(source);
  return std::find(directory.begin(), directory.end(), "examples") != directory.end();
}

void write_file_api_query(const fs::path& build_directory) {
  const fs::path query = build_directory / api / "query" / client;
  fs::create_directories(query);
  write_file(query / "query.json",
             R"({"requests":[{"kind":"codemodel","version":2},{"kind":"cache","version":2},)"
             R"({"kind":"toolchains","version":1},{"kind":"cmakeFiles","version":1}]})"
             "\n");
}

std::optional<Codemodel> read_file_api_reply(const fs::path& build_directory) {
  const fs::path reply = build_directory / api / "reply";
  const auto index = index_of(reply);
  if (!index) return std::nullopt;
  try {
    const json root = json::parse(read_file(*index));
    const auto& responses = root.at("reply").at(client).at("query.json").at("responses");
    Codemodel model;
    for (const auto& response : responses) {
      if (response.contains("error")) continue;
      const std::string kind = response.at("kind");
      const json file = read_reply(reply, response.at("jsonFile"));
      if (kind == "codemodel") read_codemodel(reply, file, model);
      if (kind == "cache") read_cache(file, model);
      if (kind == "cmakeFiles") read_cmake_files(file, model);
      if (kind == "toolchains") read_toolchains(file, model);
    }
    return model;
  } catch (const json::exception& error) {
    throw Error(
        ErrorKind::environment,
        "CMake's answer in " + reply.string() + " is not understood: " + error.what(),
        "CMake 3.25 or later is needed; remove " + build_directory.string() + " and try again");
  }
}

}  // namespace teeny::tool
