#include "teeny/runtime/device.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "device_state.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"
#include "teeny/runtime/stream.hpp"

namespace teeny {

namespace {

using detail::DeviceState;

// One state for each device of the process. Never destroyed: buffers that live as long as the
// process still need it, and a driver may be gone before our last words to it.
template <class Make>
DeviceState& shared_state(int key, Make make) {
  static std::mutex mutex;
  static auto& states = *new std::map<int, std::unique_ptr<DeviceState>>;
  const std::lock_guard lock(mutex);
  auto& state = states[key];
  if (!state) state = std::make_unique<DeviceState>(make());
  return *state;
}

constexpr int cpu_key = -1;

// The key of a device's name: cpu_key, or a CUDA device's number.
std::optional<int> parse_name(std::string_view name) {
  if (name == "cpu") return cpu_key;
  if (name == "cuda") return 0;
  constexpr std::string_view numbered = "cuda:";
  if (name.substr(0, numbered.size()) != numbered) return std::nullopt;
  const auto ordinal = parse_unsigned(name.substr(numbered.size()));
  constexpr unsigned long long most = 1023;
  if (!ordinal || *ordinal > most) return std::nullopt;
  return static_cast<int>(*ordinal);
}

Error unknown_device(const std::string& source, std::string_view name) {
  return Error(ErrorKind::usage, source + "wanted a device, found \"" + std::string(name) + "\"",
               "devices are cpu, cuda and cuda:N");
}

}  // namespace

Device Device::cpu() {
  return Device(shared_state(cpu_key, [] { return detail::make_cpu_backend(); }));
}

Device Device::cuda(int ordinal) {
  if (ordinal < 0) {
    throw Error(ErrorKind::usage, "device cuda:" + std::to_string(ordinal) +
                                      ": wanted a device number from 0, found " +
                                      std::to_string(ordinal));
  }
  return Device(shared_state(ordinal, [ordinal] { return detail::make_cuda_backend(ordinal); }));
}

Device Device::open(std::string_view name) {
  const auto key = parse_name(name);
  if (!key) throw unknown_device({}, name);
  return *key == cpu_key ? cpu() : cuda(*key);
}

void Device::check_name(std::string_view source, std::string_view name) {
  if (!parse_name(name)) throw unknown_device(std::string(source) + ": ", name);
}

Device Device::best() {
  std::string why;
  const bool has_cuda = detail::cuda_devices(&why) > 0;
  Device device = has_cuda ? cuda() : cpu();
  // Where a driver was looked for takes many lines; that there is none takes one.
  why.erase(std::min(why.find('\n'), why.size()));
  if (!why.empty() && why.back() == ':') why.pop_back();
  log(LogLevel::notice, "running on " + device.name() + " (" + device.description() + ")" +
                            (has_cuda ? "" : "; " + why));
  return device;
}

int Device::cuda_count() {
  std::string why;
  return detail::cuda_devices(&why);
}

DeviceKind Device::kind() const { return state_->backend().kind(); }
std::string Device::name() const { return state_->backend().name(); }
std::string Device::description() const { return state_->backend().description(); }
std::optional<DeviceFacts> Device::facts() const { return state_->backend().facts(); }
const DeviceAttributes& Device::attributes() const { return state_->backend().attributes(); }
MemoryInfo Device::memory() const { return state_->backend().memory(); }

Stream Device::stream() const { return Stream(*this); }
Stream Device::default_stream() const { return Stream(state_->default_stream()); }

void Device::synchronize() const {
  state_->default_stream()->refuse_in_capture("wait for the device");
  const std::string failure = state_->backend().finish();
  if (state_->guard() != nullptr) state_->guard()->reached_all();
  if (!failure.empty()) throw detail::earlier_failure(*state_, failure);
}

void Device::unload_kernels() const {
  synchronize();
  state_->unload_kernels();
}

void Device::trim_memory() const {
  synchronize();
  state_->backend().trim();
}

bool Device::synchronous() const { return state_->synchronous; }
void Device::set_synchronous(bool on) const { state_->synchronous = on; }

}  // namespace teeny
