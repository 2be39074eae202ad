#include "cuda_stream.hpp"

#include "../device_state.hpp"
#include "cuda_graph.hpp"
#include "cuda_kernel.hpp"

#include "teeny/base/error.hpp"

namespace teeny::detail {

namespace {

// A question about work that is still going on is answered "not ready", which is no failure.
bool reached(const cuda::Driver& driver, cuda::Result result, std::string* failure) {
  if (result != 0 && result != cuda::not_ready) *failure = driver.describe(result);
  return result == 0;
}

// The driver gives one code for most mistakes: say what was asked of it.
[[noreturn]] void refuse_launch(const CudaBackend& backend, const ArtifactInfo& info,
                                const Grid& grid, cuda::Result result) {
  throw Error(ErrorKind::environment,
              "cannot launch kernel " + info.kernel + " on " + backend.name() + " (grid " +
                  std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
                  std::to_string(grid.z) + ", " + std::to_string(info.threads) + " threads, " +
                  std::to_string(info.shared_bytes) + " bytes of shared memory, code for " +
                  runs_on(info) + "): " + backend.driver().describe(result));
}

}  // namespace

CudaEvent::~CudaEvent() {
  const Entered entered(backend_);
  if (entered.good()) backend_.driver().event_destroy(event_);
}

bool CudaEvent::done(std::string* failure) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  return reached(backend_.driver(), backend_.driver().event_query(event_), failure);
}

std::string CudaEvent::finish() {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  const cuda::Result result = backend_.driver().event_synchronize(event_);
  return result == 0 ? std::string() : backend_.driver().describe(result);
}

double CudaEvent::since(EventState& from) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  float milliseconds = 0;
  backend_.driver().check(
      backend_.driver().event_elapsed(&milliseconds, static_cast<CudaEvent&>(from).event_, event_),
      "cannot tell the time between two events of device " + backend_.name());
  return static_cast<double>(milliseconds);
}

CudaStream::~CudaStream() {
  if (!owned_) return;
  const Entered entered(backend_);
  if (entered.good()) backend_.driver().stream_destroy(stream_);
}

void CudaStream::launch(LoadedKernel& kernel, const Grid& grid, const void* const* values) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  auto& code = static_cast<CudaKernel&>(kernel);
  const cuda::Result result = backend_.driver().launch(
      code.function(), static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
      static_cast<unsigned>(grid.z), code.threads(), 1, 1, code.shared_bytes(), stream_,
      const_cast<void**>(values), nullptr);
  if (result != 0) refuse_launch(backend_, kernel.info(), grid, result);
  if (capturing()) static_cast<CudaCapture&>(*capture()).add_launch(backend_, stream_, code);
}

void CudaStream::check_copy(cuda::Result result, std::size_t bytes, const char* direction) const {
  backend_.driver().check(result, [&] {
    return "cannot copy " + std::to_string(bytes) + " bytes " + direction + " device " +
           backend_.name();
  });
}

void CudaStream::copy_in(u64 to, const void* from, std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  check_copy(backend_.driver().copy_in_async(to, from, bytes, stream_), bytes, "to");
}

void CudaStream::copy_out(void* to, u64 from, std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  check_copy(backend_.driver().copy_out_async(to, from, bytes, stream_), bytes, "from");
}

void CudaStream::copy(u64 to, u64 from, std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  check_copy(backend_.driver().copy_async(to, from, bytes, stream_), bytes, "within");
}

void CudaStream::copy_between(DeviceState& to_device, u64 to, DeviceState& from_device, u64 from,
                              std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  const auto context = [](DeviceState& device) {
    return static_cast<CudaBackend&>(device.backend()).context();
  };
  check_copy(backend_.driver().copy_peer_async(to, context(to_device), from, context(from_device),
                                               bytes, stream_),
             bytes, "from or to another device by a stream of");
}

void CudaStream::fill(u64 to, u8 value, std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  check_copy(backend_.driver().fill_async(to, value, bytes, stream_), bytes, "within");
}

void CudaStream::prefetch(u64 address, std::size_t bytes) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  check_copy(backend_.driver().managed_prefetch(address, bytes, backend_.number(), stream_), bytes,
             "ahead to");
}

u64 CudaStream::allocate(std::size_t bytes) { return backend_.pool_allocate(bytes, stream_); }
void CudaStream::release(u64 address) noexcept { backend_.pool_release(address, stream_); }

void CudaStream::record(EventState& event) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  backend_.driver().check(
      backend_.driver().event_record(static_cast<CudaEvent&>(event).handle(), stream_),
      [&] { return "cannot record an event on device " + backend_.name(); });
}

void CudaStream::wait(EventState& event) {
  // The CPU's events were reached when they were recorded.
  if (event.device().backend().kind() != DeviceKind::cuda) return;
  const Entered entered(backend_);
  entered.or_throw(backend_);
  backend_.driver().check(
      backend_.driver().stream_wait(stream_, static_cast<CudaEvent&>(event).handle(), 0),
      [&] { return "cannot wait for an event on device " + backend_.name(); });
}

bool CudaStream::done(std::string* failure) {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  return reached(backend_.driver(), backend_.driver().stream_query(stream_), failure);
}

std::string CudaStream::finish() {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  const cuda::Result result = backend_.driver().stream_synchronize(stream_);
  return result == 0 ? std::string() : backend_.driver().describe(result);
}

void CudaStream::begin_capture() {
  const Entered entered(backend_);
  entered.or_throw(backend_);
  // Relaxed: a kernel's first launch may be captured, and its module must be loaded for that.
  backend_.driver().check(backend_.driver().capture_begin(stream_, cuda::capture_relaxed),
                          "cannot begin a capture on device " + backend_.name());
  start(std::make_shared<CudaCapture>());
}

std::shared_ptr<GraphState> CudaStream::end_capture(bool wanted) {
  const auto ended = stop();
  const Entered entered(backend_);
  if (wanted) entered.or_throw(backend_);
  cuda::Graph graph = nullptr;
  const cuda::Result result = backend_.driver().capture_end(stream_, &graph);
  if (!wanted) {
    if (graph != nullptr) backend_.driver().graph_destroy(graph);
    return nullptr;
  }
  backend_.driver().check(result, "cannot end a capture on device " + backend_.name() +
                                      " (a stream that joined it must be waited for, and nothing "
                                      "may be asked of the legacy stream meanwhile)");
  return static_cast<CudaCapture&>(*ended).make_graph(device(), backend_, graph);
}

}  // namespace teeny::detail
