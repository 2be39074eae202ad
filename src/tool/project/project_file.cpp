#include "tool/project/project_file.hpp"

#include "tool/toml_fields.hpp"

#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

std::vector<std::string> names(TomlFields& fields, const std::string& key) {
  auto values = fields.texts(key);
  for (const auto& value : values) {
    if (value.empty()) fields.fail(key, "has an empty text in it");
  }
  return values;
}

ProjectFile::Device read_device(const toml::node& node, const TomlFields& package,
                                const TomlOrigin& origin) {
  ProjectFile::Device device;
  if (const auto name = node.value_exact<std::string>()) {
    device.device = *name;
  } else if (const auto* table = node.as_table()) {
    TomlFields fields(*table, origin, "package.devices.");
    device.device = fields.text("device");
    device.options = fields.maybe_text("options");
    fields.finish();
  } else {
    package.fail("devices",
                 "must be a list of \"cuda\", \"cpu\" or { device = \"cuda\", options = \"...\" }, "
                 "found " +
                     found_text(node) + " in it",
                 &node);
  }
  if (device.device != "cuda" && device.device != "cpu") {
    package.fail("devices", "knows cuda and cpu, found \"" + device.device + "\"", &node);
  }
  return device;
}

ProjectFile::Package read_package(const toml::table& table, const TomlOrigin& origin) {
  TomlFields fields(table, origin, "package.");
  ProjectFile::Package package;
  package.target = fields.maybe_text("target");
  if (const auto* devices = fields.array("devices", "a list of devices")) {
    for (const auto& node : *devices) package.devices.push_back(read_device(node, fields, origin));
  }
  package.bins = names(fields, "bins");
  package.examples = names(fields, "examples");
  package.data = names(fields, "data");
  package.destination = fields.maybe_text("dest");
  fields.finish();
  return package;
}

ProjectFile::Deploy read_deploy(const toml::table& table, const TomlOrigin& origin) {
  TomlFields fields(table, origin, "deploy.");
  ProjectFile::Deploy deploy;
  const auto host = fields.maybe_text("host");
  deploy.hosts = names(fields, "hosts");
  if (host && !deploy.hosts.empty()) fields.fail("host", "is given, and hosts is, too: choose one");
  if (host) deploy.hosts = {*host};
  deploy.destination = fields.maybe_text("dest");
  deploy.package = fields.maybe_text("package");
  fields.finish();
  return deploy;
}

}  // namespace

std::string ProjectFile::resolved(const std::string& text) const {
  return (path.parent_path() / text).lexically_normal().string();
}

ProjectFile parse_project_file(std::string_view text, const fs::path& path) {
  const TomlOrigin origin{path.string(), "teeny.toml", "docs/formats.md of teeny lists every key",
                          ErrorKind::usage};
  const toml::table root = parse_toml(text, origin);
  TomlFields fields(root, origin, "");
  ProjectFile file;
  file.path = path;
  if (const auto* table = fields.table("package")) file.package = read_package(*table, origin);
  if (const auto* table = fields.table("deploy")) file.deploy = read_deploy(*table, origin);
  fields.finish();
  return file;
}

std::optional<ProjectFile> read_project_file(const fs::path& root) {
  const fs::path path = root / ProjectFile::name;
  const auto text = read_file_if_exists(path);
  if (!text) return std::nullopt;
  return parse_project_file(*text, path);
}

}  // namespace teeny::tool
