#pragma once

#include <memory>
#include <vector>

#include "../stream_state.hpp"
#include "cuda_backend.hpp"
#include "cuda_kernel.hpp"
#include "driver.hpp"

namespace teeny::detail {

/// Notes which node each captured launch became.
class CudaCapture : public CaptureState {
 public:
  /// The last thing asked of `stream` was a launch of `kernel`.
  void add_launch(const CudaBackend& backend, cuda::Stream stream, CudaKernel& kernel);
  /// Takes the graph over, also when it throws.
  [[nodiscard]] std::shared_ptr<GraphState> make_graph(DeviceState& device,
                                                       const CudaBackend& backend,
                                                       cuda::Graph graph);

 private:
  std::vector<LoadedKernel*> kernels_;
  std::vector<cuda::GraphNode> nodes_;
};

}  // namespace teeny::detail
