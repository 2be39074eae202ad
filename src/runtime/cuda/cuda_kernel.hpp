#pragma once

#include <filesystem>
#include <memory>

#include "../backend.hpp"
#include "driver.hpp"

namespace teeny::detail {

class CudaBackend;

/// A module of one kernel, loaded into a device's context.
class CudaKernel : public LoadedKernel {
 public:
  CudaKernel(ArtifactInfo info, const CudaBackend& backend, cuda::Module module)
      : LoadedKernel(std::move(info)), backend_(backend), module_(module) {}
  ~CudaKernel() override;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  [[nodiscard]] cuda::Function function() const noexcept { return function_; }
  [[nodiscard]] unsigned threads() const noexcept { return static_cast<unsigned>(info().threads); }
  [[nodiscard]] unsigned shared_bytes() const noexcept {
    return static_cast<unsigned>(info().shared_bytes);
  }

 private:
  friend std::unique_ptr<LoadedKernel> load_cuda_kernel(CudaBackend&, const Artifact&,
                                                        const std::filesystem::path&);
  const CudaBackend& backend_;
  cuda::Module module_;
  cuda::Function function_ = nullptr;
};

/// Loads an artifact that fits the device. What its code wants of a block is checked against what
/// the device has before a launch could fail by it: Error(board). A driver that refuses the code is
/// quoted: Error(board). PTX is announced before the driver compiles it, and timed.
[[nodiscard]] std::unique_ptr<LoadedKernel> load_cuda_kernel(CudaBackend& backend,
                                                             const Artifact& artifact,
                                                             const std::filesystem::path& path);

}  // namespace teeny::detail
