#include "cpu_stream.hpp"

#include <cstring>
#include <utility>

#include "../device_state.hpp"

namespace teeny::detail {

namespace {

// A launch as a graph keeps it: the arguments' bytes are the graph's own.
struct CapturedLaunch {
  CpuKernel* kernel;
  Grid grid;
  std::vector<u64> slots;
};

void take_values(CapturedLaunch& launch, const void* const* values) {
  launch.slots.resize(launch.kernel->info().parameters.size());
  for (std::size_t i = 0; i < launch.slots.size(); ++i) {
    std::memcpy(&launch.slots[i], values[i], sizeof(u64));
  }
}

struct CpuCapture : CaptureState {
  std::vector<std::function<void()>> work;
  std::vector<std::shared_ptr<CapturedLaunch>> launches;
};

class CpuGraph : public GraphState {
 public:
  CpuGraph(DeviceState& device, std::vector<LoadedKernel*> kernels, CpuCapture& capture)
      : GraphState(device, std::move(kernels)),
        work_(std::move(capture.work)),
        launches_(std::move(capture.launches)) {}

  void launch(StreamState&) override {
    for (const auto& work : work_) work();
  }
  void update(std::size_t launch, const Grid& grid, const void* const* values) override {
    launches_[launch]->grid = grid;
    take_values(*launches_[launch], values);
  }

 private:
  std::vector<std::function<void()>> work_;
  std::vector<std::shared_ptr<CapturedLaunch>> launches_;
};

}  // namespace

void CpuStream::ask(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (capturing()) {
    static_cast<CpuCapture&>(*capture()).work.push_back(std::move(work));
  } else {
    work();
  }
}

void CpuStream::launch(LoadedKernel& kernel, const Grid& grid, const void* const* values) {
  auto& code = static_cast<CpuKernel&>(kernel);
  const std::lock_guard lock(mutex_);
  if (!capturing()) {
    backend_.run(code, grid, values);
    return;
  }
  auto& recording = static_cast<CpuCapture&>(*capture());
  const auto launch = std::make_shared<CapturedLaunch>(CapturedLaunch{&code, grid, {}});
  take_values(*launch, values);
  recording.launches.push_back(launch);
  recording.work.emplace_back([launch, &backend = backend_] {
    std::vector<const void*> arguments;
    for (const u64& slot : launch->slots) arguments.push_back(&slot);
    backend.run(*launch->kernel, launch->grid, arguments.data());
  });
}

void CpuStream::copy_in(u64 to, const void* from, std::size_t bytes) {
  ask([=] { std::memmove(reinterpret_cast<void*>(to), from, bytes); });
}

void CpuStream::copy_out(void* to, u64 from, std::size_t bytes) {
  ask([=] { std::memmove(to, reinterpret_cast<const void*>(from), bytes); });
}

void CpuStream::copy(u64 to, u64 from, std::size_t bytes) {
  ask([=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
}

void CpuStream::copy_between(DeviceState&, u64 to, DeviceState&, u64 from, std::size_t bytes) {
  copy(to, from, bytes);
}

void CpuStream::fill(u64 to, u8 value, std::size_t bytes) {
  ask([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
}

u64 CpuStream::allocate(std::size_t bytes) {
  return backend_.allocate(bytes, Memory::device, false).address;
}

void CpuStream::release(u64 address) noexcept {
  backend_.release({address, reinterpret_cast<void*>(address)}, 0, Memory::device, false);
}

void CpuStream::record(EventState& event) {
  if (!capturing()) static_cast<CpuEvent&>(event).reach();
}

void CpuStream::wait(EventState& event) {
  DeviceState& other = event.device();
  if (other.backend().kind() == DeviceKind::cpu) return;  // reached when it was recorded
  // What is asked of this stream next is done at once, so what comes before has to be over.
  const std::string failure = event.finish();
  if (!failure.empty()) throw earlier_failure(other, failure);
  if (other.guard() != nullptr) other.guard()->reached(event.progress);
}

void CpuStream::begin_capture() { start(std::make_shared<CpuCapture>()); }

std::shared_ptr<GraphState> CpuStream::end_capture(bool wanted) {
  const auto ended = stop();
  if (!wanted) return nullptr;
  auto& recording = static_cast<CpuCapture&>(*ended);
  std::vector<LoadedKernel*> kernels;
  for (const auto& launch : recording.launches) kernels.push_back(launch->kernel);
  return std::make_shared<CpuGraph>(device(), std::move(kernels), recording);
}

double CpuEvent::since(EventState& from) {
  return std::chrono::duration<double, std::milli>(reached_ - static_cast<CpuEvent&>(from).reached_)
      .count();
}

}  // namespace teeny::detail
