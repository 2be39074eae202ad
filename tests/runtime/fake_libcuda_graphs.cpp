// Captures and graphs.

#include <algorithm>

#include "fake_libcuda.hpp"

namespace fake {

namespace {

// What is launched: copies of the nodes, whose launches updates replace.
struct Exec {
  std::shared_ptr<Graph> graph;
  std::map<Node*, std::shared_ptr<Launch>> launches;
};

// Graphs by the handle that callers hold.
std::map<Graph*, std::shared_ptr<Graph>>& graphs() {
  static auto& all = *new std::map<Graph*, std::shared_ptr<Graph>>;
  return all;
}

void add_ancestors(std::set<const Node*>& seen, const std::vector<Node*>& nodes) {
  for (const Node* node : nodes) {
    if (seen.insert(node).second) add_ancestors(seen, node->after);
  }
}

// Whether all that joined streams were asked for lies before what the first stream would do next.
bool joined(const Stream& origin) {
  std::set<const Node*> before;
  add_ancestors(before, origin.last);
  for (const Stream* stream : origin.graph->streams) {
    for (const Node* node : stream->last) {
      if (before.count(node) == 0) return false;
    }
  }
  return true;
}

// What CUDA_KERNEL_NODE_PARAMS asks for: 0 or the code.
int launch_of(const void* parameters, std::shared_ptr<Launch>* launch) {
  struct Parameters {
    Function* function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared;
    void** values;
    void** extra;
  };
  const auto& wanted = *static_cast<const Parameters*>(parameters);
  if (const int wrong =
          check_launch(*wanted.function, wanted.grid, wanted.block, wanted.shared, wanted.values)) {
    return wrong;
  }
  *launch = std::make_shared<Launch>(
      make_launch(*wanted.function, wanted.grid, wanted.block, wanted.shared, wanted.values));
  return success;
}

}  // namespace

void capture(Stream* stream, std::function<void()> run, std::shared_ptr<Launch> launch) {
  auto node = std::make_unique<Node>(Node{std::move(run), std::move(launch), stream->last});
  stream->last = {node.get()};
  stream->graph->nodes.push_back(std::move(node));
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT int cuStreamBeginCapture_v2(void* handle, int) {
  FAKE_CONTEXT_CALL(cuStreamBeginCapture_v2);
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (handle == nullptr) return capture_unsupported;
  if (stream->graph != nullptr) return invalid_value;
  stream->graph = std::make_shared<Graph>();
  stream->graph->streams.insert(stream);
  stream->origin = true;
  stream->broken = false;
  stream->last.clear();
  return success;
}
FAKE_EXPORT int cuStreamEndCapture(void* handle, void** result) {
  FAKE_CONTEXT_CALL(cuStreamEndCapture);
  *result = nullptr;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->graph == nullptr || !stream->origin) return capture_unmatched;
  const std::shared_ptr<Graph> graph = stream->graph;
  const bool whole = joined(*stream);
  const bool broken = stream->broken;
  for (Stream* one : std::set<Stream*>(std::move(graph->streams))) {
    one->graph = nullptr;
    one->last.clear();
  }
  graph->streams.clear();
  stream->origin = false;
  if (broken) return capture_invalidated;
  if (!whole) return capture_unjoined;
  live("graph", 1);
  graphs()[graph.get()] = graph;
  return *result = graph.get(), success;
}
FAKE_EXPORT int cuStreamGetCaptureInfo_v2(void* handle, int* status, std::uint64_t* id,
                                          void** graph, const Node* const** dependencies,
                                          std::size_t* count) {
  FAKE_CONTEXT_CALL(cuStreamGetCaptureInfo_v2);
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  *status = stream->graph == nullptr ? 0 : 1;
  *id = 1;
  *graph = stream->graph.get();
  *dependencies = stream->last.data();
  *count = stream->last.size();
  return success;
}
FAKE_EXPORT int cuGraphCreate(void** result, unsigned) {
  FAKE_CONTEXT_CALL(cuGraphCreate);
  const auto graph = std::make_shared<Graph>();
  live("graph", 1);
  graphs()[graph.get()] = graph;
  return *result = graph.get(), success;
}
FAKE_EXPORT int cuGraphAddKernelNode(void** result, void* handle, Node* const* dependencies,
                                     std::size_t count, const void* parameters) {
  FAKE_CONTEXT_CALL(cuGraphAddKernelNode);
  const auto at = graphs().find(static_cast<Graph*>(handle));
  if (at == graphs().end()) return invalid_value;
  std::shared_ptr<Launch> launch;
  if (const int wrong = launch_of(parameters, &launch)) return wrong;
  auto node = std::make_unique<Node>(Node{nullptr, std::move(launch), {}});
  node->after.assign(dependencies, dependencies + count);
  *result = node.get();
  at->second->nodes.push_back(std::move(node));
  return success;
}
FAKE_EXPORT int cuGraphInstantiateWithFlags(void** result, void* handle, unsigned long long) {
  FAKE_CONTEXT_CALL(cuGraphInstantiateWithFlags);
  const auto at = graphs().find(static_cast<Graph*>(handle));
  if (at == graphs().end()) return invalid_value;
  auto* exec = new Exec{at->second, {}};
  for (const auto& node : exec->graph->nodes) {
    if (node->launch) exec->launches[node.get()] = node->launch;
  }
  live("graph exec", 1);
  return *result = exec, success;
}
FAKE_EXPORT int cuGraphExecKernelNodeSetParams(void* handle, void* node_handle,
                                               const void* parameters) {
  FAKE_CONTEXT_CALL(cuGraphExecKernelNodeSetParams);
  auto& exec = *static_cast<Exec*>(handle);
  const auto at = exec.launches.find(static_cast<Node*>(node_handle));
  if (at == exec.launches.end()) return invalid_value;
  return launch_of(parameters, &at->second);
}
FAKE_EXPORT int cuGraphLaunch(void* handle, void* stream_handle) {
  FAKE_CONTEXT_CALL(cuGraphLaunch);
  const auto& exec = *static_cast<Exec*>(handle);
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->graph != nullptr) return not_supported;
  // Nodes are in the order they were asked for, which keeps all their dependencies.
  std::vector<std::function<void()>> work;
  for (const auto& node : exec.graph->nodes) {
    const auto launch = exec.launches.find(node.get());
    if (launch == exec.launches.end()) {
      work.push_back(node->run);
    } else {
      work.emplace_back([launch = launch->second] { run(*launch); });
    }
  }
  ask(
      stream,
      [work] {
        for (const auto& one : work) one();
      },
      "graph launch");
  return success;
}
FAKE_EXPORT int cuGraphExecDestroy(void* handle) {
  FAKE_CONTEXT_CALL(cuGraphExecDestroy);
  delete static_cast<Exec*>(handle);
  live("graph exec", -1);
  return success;
}
FAKE_EXPORT int cuGraphDestroy(void* handle) {
  FAKE_CONTEXT_CALL(cuGraphDestroy);
  if (graphs().erase(static_cast<Graph*>(handle)) == 0) return invalid_value;
  live("graph", -1);
  return success;
}
