#include "cuda_graph.hpp"

#include <utility>

#include "cuda_stream.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

class CudaGraph : public GraphState {
 public:
  CudaGraph(DeviceState& device, std::vector<LoadedKernel*> kernels, const CudaBackend& backend,
            cuda::Graph graph, std::vector<cuda::GraphNode> nodes)
      : GraphState(device, std::move(kernels)),
        backend_(backend),
        graph_(graph),
        nodes_(std::move(nodes)) {
    const cuda::Result result = backend.driver().graph_instantiate(&exec_, graph, 0);
    if (result == 0) return;
    backend.driver().graph_destroy(graph);
    backend.driver().check(result, "cannot make a graph on device " + backend.name());
  }
  ~CudaGraph() override {
    const Entered entered(backend_);
    if (!entered.good()) return;
    backend_.driver().graph_exec_destroy(exec_);
    backend_.driver().graph_destroy(graph_);
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(StreamState& stream) override {
    const Entered entered(backend_);
    entered.or_throw(backend_);
    const cuda::Result result =
        backend_.driver().graph_launch(exec_, static_cast<CudaStream&>(stream).handle());
    backend_.driver().check(result,
                            [&] { return "cannot launch a graph on device " + backend_.name(); });
  }

  void update(std::size_t launch, const Grid& grid, const void* const* values) override {
    const Entered entered(backend_);
    entered.or_throw(backend_);
    const auto& kernel = static_cast<CudaKernel&>(*kernels()[launch]);
    const cuda::KernelNode node = {kernel.function(),
                                   {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                                    static_cast<unsigned>(grid.z)},
                                   {kernel.threads(), 1, 1},
                                   kernel.shared_bytes(),
                                   const_cast<void**>(values),
                                   nullptr};
    backend_.driver().check(backend_.driver().graph_set_kernel(exec_, nodes_[launch], &node), [&] {
      return "cannot update launch " + std::to_string(launch) + " of a graph on device " +
             backend_.name();
    });
  }

 private:
  const CudaBackend& backend_;
  cuda::Graph graph_;  // kept: its nodes name what an update changes
  cuda::GraphExec exec_ = nullptr;
  std::vector<cuda::GraphNode> nodes_;
};

}  // namespace

void CudaCapture::add_launch(const CudaBackend& backend, cuda::Stream stream, CudaKernel& kernel) {
  int status = 0;
  std::uint64_t id = 0;
  cuda::Graph graph = nullptr;
  const cuda::GraphNode* last = nullptr;
  std::size_t count = 0;
  backend.driver().check(backend.driver().capture_info(stream, &status, &id, &graph, &last, &count),
                         "cannot follow a capture on device " + backend.name());
  // What comes next in the stream would depend on the launch alone.
  if (count != 1) {
    throw Error(ErrorKind::internal, "a captured launch of kernel " + kernel.info().kernel +
                                         " became " + std::to_string(count) + " nodes of a graph");
  }
  kernels_.push_back(&kernel);
  nodes_.push_back(last[0]);
}

std::shared_ptr<GraphState> CudaCapture::make_graph(DeviceState& device, const CudaBackend& backend,
                                                    cuda::Graph graph) {
  return std::make_shared<CudaGraph>(device, std::move(kernels_), backend, graph,
                                     std::move(nodes_));
}

}  // namespace teeny::detail
