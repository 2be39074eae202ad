#include "tool/package/manifest.hpp"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

using nlohmann::json;

std::string octal(unsigned mode) {
  const char digits[] = {
      static_cast<char>('0' + (mode >> 9 & 7)), static_cast<char>('0' + (mode >> 6 & 7)),
      static_cast<char>('0' + (mode >> 3 & 7)), static_cast<char>('0' + (mode & 7))};
  return std::string(digits, 4);
}

json file_json(const PackagedFile& file) {
  return {{"path", file.path},
          {"mode", octal(file.mode)},
          {"size", file.size},
          {"sha256", file.sha256}};
}

json kernel_json(const PackagedKernel& kernel) {
  const ArtifactInfo& info = kernel.info;
  json entry = {{"type", kernel.type},
                {"kernel", info.kernel},
                {"fingerprint", info.fingerprint},
                {"artifact", kernel.artifact},
                {"kind", extension(info.kind)},
                {"runs_on", kernel.runs_on},
                {"launch_abi", info.launch_abi}};
  if (info.capability) entry["sm"] = info.capability->name();
  if (info.ptx_version) entry["ptx"] = info.ptx_version->name();
  if (!info.assembler.empty()) entry["assembler"] = info.assembler;
  if (info.elf_abi) entry["elf_abi"] = *info.elf_abi;
  if (info.registers >= 0) entry["registers"] = info.registers;
  if (info.spill_bytes >= 0) entry["spill_bytes"] = info.spill_bytes;
  if (info.capability) {
    entry["shared_bytes"] = info.shared_bytes + info.static_shared_bytes;
  } else {
    entry["scratch_bytes"] = info.scratch_bytes;
  }
  return entry;
}

json elf_json(const PackagedElf& elf) {
  json versions = json::object();
  for (const auto& [family, number] : elf.versions) versions[family] = number;
  return {{"path", elf.path},
          {"machine", elf.machine},
          {"interpreter", elf.interpreter},
          {"libraries", elf.libraries},
          {"versions", versions}};
}

}  // namespace

std::string Manifest::to_json() const {
  json root;
  root["schema"] = schema;
  root["name"] = name;
  root["board"] = board;
  root["triple"] = triple;
  root["programs"] = programs;
  root["devices"] = json::array();
  for (const auto& [device, options] : devices) {
    root["devices"].push_back({{"device", device}, {"options", options}});
  }
  root["files"] = json::array();
  for (const auto& file : files) root["files"].push_back(file_json(file));
  root["kernels"] = json::array();
  for (const auto& kernel : kernels) root["kernels"].push_back(kernel_json(kernel));
  root["elf_needs"] = json::array();
  for (const auto& elf : elf_needs) root["elf_needs"].push_back(elf_json(elf));
  root["weights"] = json::array();
  // Not declared is unknown, which is not 0.
  root["peak_device_bytes"] = nullptr;
  if (peak_device_bytes) root["peak_device_bytes"] = *peak_device_bytes;
  root["tools"] = json::object();
  for (const auto& [tool, version] : tools) root["tools"][tool] = version;
  try {
    return root.dump(1) + "\n";
  } catch (const json::exception&) {
    throw Error(ErrorKind::input,
                "a file name in the package is not UTF-8, which the manifest needs",
                "rename the file");
  }
}

std::vector<PackagedFile> list_files(const fs::path& package) {
  std::vector<PackagedFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(package)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const std::string path = entry.path().lexically_relative(package).generic_string();
    if (path == Manifest::path) continue;
    if (entry.is_symlink() || !entry.is_regular_file()) {
      throw Error(ErrorKind::input, entry.path().string() + " is neither a file nor a directory",
                  "packages hold plain files only");
    }
    const bool executable =
        (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    files.push_back(
        {path, executable ? 0755U : 0644U, entry.file_size(), sha256_file(entry.path())});
  }
  std::sort(files.begin(), files.end(),
            [](const PackagedFile& a, const PackagedFile& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> compare_files(const std::vector<PackagedFile>& wanted,
                                       const std::vector<PackagedFile>& found, bool modes) {
  std::map<std::string, const PackagedFile*> there;
  for (const auto& file : found) there[file.path] = &file;
  std::vector<std::string> differences;
  for (const auto& file : wanted) {
    const auto at = there.find(file.path);
    if (at == there.end()) {
      differences.push_back("missing: " + file.path);
      continue;
    }
    if (at->second->sha256 != file.sha256) {
      differences.push_back("altered: " + file.path);
    } else if (modes && at->second->mode != file.mode) {
      differences.push_back("another mode: " + file.path);
    }
    there.erase(at);
  }
  for (const auto& [path, file] : there) differences.push_back("extra: " + path);
  return differences;
}

}  // namespace teeny::tool
