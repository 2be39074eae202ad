#include "teeny/runtime/graph.hpp"

#include <utility>

#include "check_launch.hpp"
#include "device_state.hpp"

#include "teeny/base/error.hpp"

namespace teeny {

namespace detail {

Capture::Capture(std::shared_ptr<StreamState> stream) : stream_(std::move(stream)) {
  stream_->refuse_in_capture("begin another capture");
  stream_->begin_capture();
}

namespace {

std::shared_ptr<GraphState> end(StreamState& stream, bool wanted) {
  const std::shared_ptr<CaptureState> capture = stream.capture();
  const auto give_back = [&] {
    for (const auto& [owner, address] : std::exchange(capture->freed, {})) owner->release(address);
  };
  try {
    std::shared_ptr<GraphState> graph = stream.end_capture(wanted);
    give_back();
    return graph;
  } catch (...) {
    give_back();
    throw;
  }
}

}  // namespace

Capture::~Capture() {
  if (stream_ != nullptr && stream_->capturing()) static_cast<void>(end(*stream_, false));
}

std::shared_ptr<GraphState> Capture::finish() {
  const auto stream = std::exchange(stream_, nullptr);
  return end(*stream, true);
}

void update(GraphState& graph, std::size_t launch, KernelEntry& entry, const Grid& grid,
            const void* const* values) {
  if (launch >= graph.kernels().size()) {
    throw Error(ErrorKind::usage,
                "update of a graph: wanted one of its " + std::to_string(graph.kernels().size()) +
                    " launches, counted from 0, found number " + std::to_string(launch));
  }
  const LoadedKernel& kernel = graph.device().load(entry);
  if (&kernel != graph.kernels()[launch]) {
    throw Error(ErrorKind::usage,
                "update of a graph: launch " + std::to_string(launch) + " is of kernel " +
                    graph.kernels()[launch]->info().kernel + ", found " + entry.instance.readable +
                    entry.instance.members,
                "another kernel needs a new capture");
  }
  check_grid(entry, grid);
  graph.update(launch, grid, values);
}

DeviceState& device_of(const GraphState& graph) { return graph.device(); }

}  // namespace detail

void Graph::launch(const Stream& stream) const {
  detail::check_stream_device(stream.state(), state_->device());
  stream.state().refuse_in_capture("launch a graph");
  state_->launch(stream.state());
  detail::DeviceState& device = state_->device();
  if (device.guard() != nullptr) device.guard()->after_graph(stream.state());
  if (device.synchronous) stream.synchronize();
}

std::size_t Graph::launches() const { return state_->kernels().size(); }

}  // namespace teeny
