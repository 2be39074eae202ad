#include "teeny/weights/load.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "compare.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/location.hpp"
#include "teeny/weights/safetensors.hpp"

namespace fs = std::filesystem;

namespace teeny {

namespace {

// Nothing that teeny computes with wants more.
constexpr std::size_t alignment = 8;

[[noreturn]] void refuse(const std::vector<Finding>& findings) {
  int code = findings.front().exit_code;
  std::string text = "the weights do not fit the program:";
  for (const auto& finding : findings) {
    text += "\n  " + finding.text;
    code = std::min(code, finding.exit_code);
  }
  throw Error(ErrorKind::input, text, findings.front().next, code);
}

}  // namespace

struct Weights::Files {
  std::vector<SafetensorsFile> files;
  // A file need not align its tensors; what it does not is copied when it is first asked for.
  mutable std::mutex mutex;
  mutable std::map<const StoredTensor*, std::vector<u64>> aligned;
};

std::span<const std::byte> Weights::bytes_of(const WeightNeed& need) const {
  if (!files_) {
    throw Error(ErrorKind::usage, "weight " + need.name + ": no weights were loaded",
                "take what load_weights returns");
  }
  const auto findings = detail::compare_weights({need}, files_->files);
  if (!findings.empty()) refuse(findings);
  const StoredTensor* tensor = nullptr;
  for (const auto& file : files_->files) {
    if (const auto* found = file.contents().find(need.name)) tensor = found;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor->bytes.data());
  if (address % static_cast<std::size_t>(size_of(need.type.dtype)) == 0) return tensor->bytes;
  const std::lock_guard lock(files_->mutex);
  const auto [at, added] = files_->aligned.try_emplace(tensor);
  if (added) {
    at->second.resize((tensor->bytes.size() + alignment - 1) / alignment);
    std::memcpy(at->second.data(), tensor->bytes.data(), tensor->bytes.size());
  }
  return {reinterpret_cast<const std::byte*>(at->second.data()), tensor->bytes.size()};
}

Weights load_weights(const std::vector<fs::path>& files) {
  auto loaded = std::make_shared<Weights::Files>();
  for (const auto& file : files) loaded->files.push_back(SafetensorsFile::open(file));
  const auto findings = detail::compare_weights(declared_weights(), loaded->files);
  if (!findings.empty()) refuse(findings);
  Weights weights;
  weights.files_ = std::move(loaded);
  return weights;
}

fs::path data_path(std::string_view name) {
  const auto root = package_root(executable_path());
  return root ? *root / "data" / name : fs::path(name);
}

}  // namespace teeny
