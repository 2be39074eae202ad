#pragma once

#include <cstdint>
#include <filesystem>

#include "../backend.hpp"

namespace teeny::detail {

/// A kernel's shared object, loaded.
class CpuKernel : public LoadedKernel {
 public:
  // Launch ABI 1, see ir/kernel.hpp.
  using Entry = void (*)(const void* const* arguments, const std::uint32_t* position,
                         const std::uint32_t* grid, void* scratch);

  /// Error(environment) when it cannot be loaded, Error(input) when it lacks its entry.
  CpuKernel(ArtifactInfo info, const std::filesystem::path& path);
  ~CpuKernel() override;
  CpuKernel(const CpuKernel&) = delete;
  CpuKernel& operator=(const CpuKernel&) = delete;
  [[nodiscard]] Entry entry() const noexcept { return entry_; }

 private:
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
};

}  // namespace teeny::detail
