#include "teeny/lang/trace.hpp"

#include <atomic>
#include <utility>

#include "lang/recorder.hpp"

#include "teeny/base/error.hpp"

namespace teeny::lang {

namespace {
thread_local Trace* current_trace = nullptr;
std::atomic<unsigned> serials{0};
}  // namespace

Trace::Trace(std::string name, const std::vector<ir::Type>& parameters, ir::KernelOptions options)
    : builder_(std::move(name), parameters, options),
      serial_(serials.fetch_add(1) + 1),
      outer_(std::exchange(current_trace, this)) {}

Trace::~Trace() { current_trace = outer_; }

AnyTile Trace::parameter(std::size_t index) const {
  return Recorder::wrap(builder_.parameter(index));
}

ir::Kernel Trace::finish() { return builder_.finish(); }

bool in_trace() noexcept { return current_trace != nullptr; }

Trace& Recorder::current() {
  if (current_trace == nullptr) {
    throw Error(ErrorKind::usage,
                "an operation on tiles was called, but no kernel is being recorded on this thread",
                "tiles exist only inside a kernel's operator(), which launch and compile_kernel "
                "call: pass them the kernel instead of calling it");
  }
  return *current_trace;
}

ir::Builder& Recorder::builder() { return current().builder_; }

ir::ValueId Recorder::id(const AnyTile& tile) {
  if (tile.trace_ != current().serial_) {
    throw Error(ErrorKind::usage, "a tile of one kernel is used while another is being recorded",
                "keep no tiles in members, statics or captures of a kernel");
  }
  return tile.id_;
}

AnyTile Recorder::wrap(ir::ValueId id) { return AnyTile(id, current().serial_); }

std::vector<ir::ValueId> Recorder::ids(const Tiles& tiles) {
  std::vector<ir::ValueId> result;
  result.reserve(tiles.size());
  for (const AnyTile& tile : tiles) result.push_back(id(tile));
  return result;
}

Tiles Recorder::wrap(const std::vector<ir::ValueId>& ids) {
  Tiles result;
  result.reserve(ids.size());
  for (const ir::ValueId value : ids) result.push_back(wrap(value));
  return result;
}

}  // namespace teeny::lang
