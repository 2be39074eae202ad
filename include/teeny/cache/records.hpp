#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "teeny/cache/weight_need.hpp"

namespace teeny {

/// One kernel of a program, as `aot` left it for the board.
struct KernelRecord {
  std::string kernel;                  ///< name and entry symbol
  std::string readable;                ///< its C++ type, for people
  std::string fingerprint;             ///< of its IR
  std::vector<std::string> artifacts;  ///< paths below the cache directory, sorted, no duplicates
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};

/// `<cache>/programs/<program>.json`: what the kernels of one program were compiled to, found by
/// KernelInstance::record_key, so that a board finds its code without tracing anything.
class ProgramRecords {
 public:
  explicit ProgramRecords(std::string program) : program_(std::move(program)) {}

  [[nodiscard]] static std::filesystem::path path(const std::filesystem::path& cache_directory,
                                                  std::string_view program);
  /// nullopt when there is no such file; Error(input) for one that is damaged or of a newer format.
  [[nodiscard]] static std::optional<ProgramRecords> read(
      const std::filesystem::path& cache_directory, std::string_view program);
  /// Replaces the file in one step. The same records give the same bytes.
  void write(const std::filesystem::path& cache_directory) const;

  [[nodiscard]] const std::string& program() const noexcept { return program_; }
  [[nodiscard]] const KernelRecord* find(std::string_view record_key) const;
  [[nodiscard]] const std::map<std::string, KernelRecord, std::less<>>& kernels() const noexcept {
    return kernels_;
  }
  /// Adds an artifact to the record of that key, or makes the record. One of another fingerprint is
  /// replaced whole: the kernel has changed.
  void add(const std::string& record_key, const KernelRecord& record);

  /// Bytes of device memory that the program declares at its peak; nullopt: it declares nothing.
  [[nodiscard]] std::optional<std::uint64_t> peak_device_bytes() const noexcept {
    return peak_device_bytes_;
  }
  void set_peak_device_bytes(std::optional<std::uint64_t> bytes) { peak_device_bytes_ = bytes; }

  /// The weights that the program declares, sorted by name.
  [[nodiscard]] const std::vector<WeightNeed>& weights() const noexcept { return weights_; }
  void set_weights(std::vector<WeightNeed> weights) { weights_ = std::move(weights); }

 private:
  std::string program_;
  std::map<std::string, KernelRecord, std::less<>> kernels_;
  std::optional<std::uint64_t> peak_device_bytes_;
  std::vector<WeightNeed> weights_;
};

}  // namespace teeny
