#include "teeny/cache/records.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "publish.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

// {"schema": 1, "program": NAME, "kernels": {KEY: {"kernel", "type", "fingerprint", "artifacts"}},
//  "peak_device_bytes": N or absent, "weights": [{"name", "dtype", "shape"}] or absent}
// Keys and names may hold any bytes (a kernel's members may be strings), and JSON takes only UTF-8:
// what is not printable ASCII, and the percent sign, is written as %XX.

namespace teeny {

namespace {

using nlohmann::json;

constexpr int schema = 1;

std::string unescape(const std::string& text) {
  if (auto bytes = unescape_bytes(text)) return std::move(*bytes);
  throw Error(ErrorKind::input, "a % without two hexadecimal digits in \"" + text + "\"");
}

void normalise(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// An artifact's path comes from a file: it must not lead out of the cache.
void check_inside(const std::string& artifact) {
  const fs::path path(artifact);
  const bool leaves =
      path.is_absolute() || std::find(path.begin(), path.end(), fs::path("..")) != path.end();
  if (leaves || artifact.empty()) {
    throw Error(ErrorKind::input, "wanted artifacts below the cache, found \"" + artifact + "\"");
  }
}

WeightNeed read_weight(const json& entry) {
  WeightNeed need;
  need.name = unescape(entry.at("name").get<std::string>());
  const auto word = entry.at("dtype").get<std::string>();
  const auto dtype = parse_dtype(word);
  if (!dtype) throw Error(ErrorKind::input, "weight " + need.name + " is of no dtype: " + word);
  need.type.dtype = *dtype;
  for (const auto& extent : entry.at("shape")) {
    if (!extent.is_number_unsigned()) {
      throw Error(ErrorKind::input,
                  "weight " + need.name + ": wanted whole extents, found " + extent.dump());
    }
    need.type.shape.push_back(extent.get<std::uint64_t>());
  }
  return need;
}

json weight_json(const WeightNeed& need) {
  return {{"name", escape_bytes(need.name)},
          {"dtype", std::string(name(need.type.dtype))},
          {"shape", need.type.shape}};
}

}  // namespace

fs::path ProgramRecords::path(const fs::path& cache_directory, std::string_view program) {
  return cache_directory / "programs" / (std::string(program) + ".json");
}

std::optional<ProgramRecords> ProgramRecords::read(const fs::path& cache_directory,
                                                   std::string_view program) {
  const fs::path file = path(cache_directory, program);
  const auto text = read_file_if_exists(file);
  if (!text) return std::nullopt;
  const std::string next = "compile the program's kernels ahead of time again";
  try {
    const json object = json::parse(*text);
    const int found = object.at("schema").get<int>();
    if (found > schema) {
      throw Error(ErrorKind::input, "written in format " + std::to_string(found) +
                                        ", and this program reads up to " + std::to_string(schema));
    }
    ProgramRecords records(unescape(object.at("program").get<std::string>()));
    if (records.program_ != program) {
      throw Error(ErrorKind::input, "describes program " + records.program_);
    }
    for (const auto& [key, value] : object.at("kernels").items()) {
      KernelRecord record;
      record.kernel = value.at("kernel").get<std::string>();
      record.readable = unescape(value.at("type").get<std::string>());
      record.fingerprint = value.at("fingerprint").get<std::string>();
      for (const auto& artifact : value.at("artifacts")) {
        record.artifacts.push_back(artifact.get<std::string>());
        check_inside(record.artifacts.back());
      }
      normalise(record.artifacts);
      records.kernels_[unescape(key)] = std::move(record);
    }
    if (const auto peak = object.find("peak_device_bytes"); peak != object.end()) {
      if (!peak->is_number_unsigned()) {
        throw Error(ErrorKind::input,
                    "wanted bytes as a whole number in peak_device_bytes, found " + peak->dump());
      }
      records.peak_device_bytes_ = peak->get<std::uint64_t>();
    }
    if (const auto weights = object.find("weights"); weights != object.end()) {
      for (const auto& entry : *weights) records.weights_.push_back(read_weight(entry));
    }
    return records;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::input, file.string() + ": damaged: " + error.what(), next);
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.message(), next);
  }
}

void ProgramRecords::write(const fs::path& cache_directory) const {
  json kernels = json::object();
  for (const auto& [key, record] : kernels_) {
    kernels[escape_bytes(key)] = {{"kernel", record.kernel},
                                  {"type", escape_bytes(record.readable)},
                                  {"fingerprint", record.fingerprint},
                                  {"artifacts", record.artifacts}};
  }
  json object = {{"schema", schema}, {"program", escape_bytes(program_)}, {"kernels", kernels}};
  if (peak_device_bytes_) object["peak_device_bytes"] = *peak_device_bytes_;
  for (const auto& need : weights_) object["weights"].push_back(weight_json(need));
  detail::make_cache_directory(cache_directory);
  const fs::path file = path(cache_directory, program_);
  detail::make_shared_directory(file.parent_path());
  write_file(file, object.dump(1) + "\n", detail::file_mode(file.parent_path()));
}

const KernelRecord* ProgramRecords::find(std::string_view record_key) const {
  const auto at = kernels_.find(record_key);
  return at == kernels_.end() ? nullptr : &at->second;
}

void ProgramRecords::add(const std::string& record_key, const KernelRecord& record) {
  KernelRecord& kept = kernels_[record_key];
  std::vector<std::string> artifacts = record.artifacts;
  if (kept.fingerprint == record.fingerprint) {
    artifacts.insert(artifacts.end(), kept.artifacts.begin(), kept.artifacts.end());
  }
  kept = record;
  kept.artifacts = std::move(artifacts);
  normalise(kept.artifacts);
}

}  // namespace teeny
