#include "teeny/runtime/device.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "device_state.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace teeny {

namespace {

using detail::Backend;
using detail::DeviceState;

// One state for each device of the process. Never destroyed: buffers that live as long as the
// process still need it, and a driver may be gone before our last words to it.
template <class Make>
std::shared_ptr<DeviceState> shared_state(int key, Make make) {
  static std::mutex mutex;
  static auto& states = *new std::map<int, std::shared_ptr<DeviceState>>;
  const std::lock_guard lock(mutex);
  auto& state = states[key];
  if (!state) state = std::make_shared<DeviceState>(make());
  return state;
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
  const bool has_cuda = detail::cuda_answers(&why);
  Device device = has_cuda ? cuda() : cpu();
  // Where a driver was looked for takes many lines; that there is none takes one.
  why.erase(std::min(why.find('\n'), why.size()));
  if (!why.empty() && why.back() == ':') why.pop_back();
  log(LogLevel::notice, "running on " + device.name() + " (" + device.description() + ")" +
                            (has_cuda ? "" : "; " + why));
  return device;
}

DeviceKind Device::kind() const { return state_->backend().kind(); }
std::string Device::name() const { return state_->backend().name(); }
std::string Device::description() const { return state_->backend().description(); }
std::optional<DeviceFacts> Device::facts() const { return state_->backend().facts(); }
void Device::synchronize() const { state_->backend().synchronize(); }
u64 Device::allocate(std::size_t bytes) const { return state_->backend().allocate(bytes); }
void Device::release(u64 address) const noexcept { state_->backend().release(address); }
void Device::copy_in(u64 to, const void* from, std::size_t bytes) const {
  state_->backend().copy_in(to, from, bytes);
}
void Device::copy_out(void* to, u64 from, std::size_t bytes) const {
  state_->backend().copy_out(to, from, bytes);
}
void Device::copy(u64 to, u64 from, std::size_t bytes) const {
  state_->backend().copy(to, from, bytes);
}
void Device::fill(u64 to, u8 value, std::size_t bytes) const {
  state_->backend().fill(to, value, bytes);
}

}  // namespace teeny
