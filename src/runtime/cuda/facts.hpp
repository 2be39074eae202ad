#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "teeny/target/loading.hpp"

namespace teeny::detail {

/// A CUDA device as its driver describes it.
struct CudaDeviceFacts {
  std::string name;         ///< "cuda:0"
  std::string description;  ///< "NVIDIA H200, sm_90, driver 13.0"
  DeviceFacts facts;
  std::uint64_t shared_bytes = 0;  ///< what a block may opt in to
};

/// Every CUDA device of this machine; no context is made on any. Empty where there is no driver or
/// no device, and then `why` receives one line that says so. Error(environment) for a driver that
/// answers with an error.
[[nodiscard]] std::vector<CudaDeviceFacts> cuda_device_facts(std::string* why);

}  // namespace teeny::detail
