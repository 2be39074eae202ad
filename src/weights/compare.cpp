#include "compare.hpp"

#include <algorithm>

#include "teeny/base/error.hpp"
#include "teeny/base/text.hpp"
#include "teeny/weights/weight.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

std::string names_of(const std::vector<SafetensorsFile>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.path().string());
  return names.empty() ? "any file" : join(names, ", ");
}

// What the files have instead, the nearest name first.
std::string what_is_there(const std::string& wanted, const std::vector<SafetensorsFile>& files) {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (const auto& file : files) {
    for (const auto& tensor : file.contents().tensors) names.push_back(tensor.name);
  }
  if (names.empty()) return "no tensor at all";
  std::vector<std::string> shown;
  if (const auto close = nearest(wanted, names)) shown.push_back(*close);
  for (const auto& name : names) {
    if (shown.size() == most) break;
    if (std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(name);
  }
  const std::size_t rest = names.size() - shown.size();
  return join(shown, ", ") + (rest == 0 ? "" : " and " + std::to_string(rest) + " more");
}

}  // namespace

std::vector<Finding> compare_weights(const std::vector<WeightNeed>& needs,
                                     const std::vector<SafetensorsFile>& files) {
  const std::string next =
      "give the file that the program was written for, or declare the weight "
      "as the file has it";
  std::vector<Finding> findings;
  for (const auto& need : needs) {
    const std::string wanted = "weight " + need.name + ": wanted " + to_string(need.type);
    std::vector<std::pair<const SafetensorsFile*, const StoredTensor*>> there;
    for (const auto& file : files) {
      if (const auto* tensor = file.contents().find(need.name)) there.emplace_back(&file, tensor);
    }
    if (there.empty()) {
      findings.push_back({finding_code::incomplete,
                          wanted + ", found no tensor of that name in " + names_of(files) +
                              ", but " + what_is_there(need.name, files),
                          next});
      continue;
    }
    if (there.size() > 1) {
      findings.push_back({finding_code::incomplete,
                          wanted + " once, found it in " + there[0].first->path().string() +
                              " and in " + there[1].first->path().string(),
                          "leave one of the files out"});
      continue;
    }
    const StoredTensor& tensor = *there[0].second;
    if (tensor.is(need.type)) continue;
    findings.push_back(
        {tensor.dtype == need.type.dtype ? finding_code::incomplete : finding_code::dtype,
         wanted + ", found " + tensor.type_text() + " in " + there[0].first->path().string(),
         next});
  }
  return findings;
}

std::vector<fs::path> weights_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Finding> check_weights(const std::vector<WeightNeed>& needs,
                                   const fs::path& directory) {
  if (needs.empty()) return {};
  std::vector<SafetensorsFile> files;
  std::vector<Finding> findings;
  for (const auto& path : weights_files(directory)) {
    try {
      files.push_back(SafetensorsFile::open(path));
    } catch (const Error& error) {
      findings.push_back({finding_code::incomplete, error.message(), error.next()});
    }
  }
  if (files.empty() && findings.empty()) {
    return {{finding_code::incomplete,
             "wanted " + std::to_string(needs.size()) + " weights (" + needs.front().name + ": " +
                 to_string(needs.front().type) + (needs.size() == 1 ? "" : ", ...") +
                 "), found no safetensors file in " + directory.string(),
             "package it with --data FILE.safetensors"}};
  }
  for (auto& finding : compare_weights(needs, files)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace teeny::detail
