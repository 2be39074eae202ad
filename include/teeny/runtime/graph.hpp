#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "teeny/runtime/launch.hpp"
#include "teeny/runtime/stream.hpp"

namespace teeny {

namespace detail {

class GraphState;

/// Ends a capture: as a graph, or, unless `finish` was called, as nothing.
class Capture {
 public:
  explicit Capture(std::shared_ptr<StreamState> stream);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  [[nodiscard]] std::shared_ptr<GraphState> finish();

 private:
  std::shared_ptr<StreamState> stream_;
};

void update(GraphState& graph, std::size_t launch, KernelEntry& entry, const Grid& grid,
            const void* const* values);
[[nodiscard]] DeviceState& device_of(const GraphState& graph);

}  // namespace detail

/// Launches and copies that were captured once, to be launched together as often as wanted, for
/// about the price of one launch. Copies mean the same graph. The buffers in it must outlive it.
/// `launch` and `update` of one graph are called by one thread at a time.
class Graph {
 public:
  /// Asks for all of it on `stream`, which is of the device that it was captured on.
  void launch(const Stream& stream) const;
  /// How many kernel launches it holds.
  [[nodiscard]] std::size_t launches() const;
  /// Gives captured launch number `launch` (from 0, in the order they were asked for) another grid
  /// and other arguments, from the next `launch` on, without a new capture. Errors as of a launch;
  /// Error(usage) for another kernel than the captured one.
  template <class Kernel, class... Args>
  void update(std::size_t launch, const Kernel& kernel, const Grid& grid,
              const Args&... args) const {
    check_arguments<Kernel, Args...>();
    ensure_registered<Kernel>();
    detail::DeviceState& device = detail::device_of(*state_);
    detail::KernelEntry& entry = detail::entry_of(device, kernel);
    const PackedArguments<Kernel, Args...> packed(entry.instance, args...);
    detail::check_owners(device, entry, args...);
    detail::update(*state_, launch, entry, grid, packed.values());
  }

  explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept : state_(std::move(state)) {}

 private:
  std::shared_ptr<detail::GraphState> state_;
};

template <class Work>
Graph Stream::capture(Work&& work) const {
  detail::Capture capture(state_);
  std::forward<Work>(work)(*this);
  return Graph(capture.finish());
}

}  // namespace teeny
