#include "cuda_backend.hpp"

#include <array>

#include "cuda_kernel.hpp"
#include "cuda_stream.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/cache/choose.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

using cuda::DeviceAttribute;
using cuda::Driver;

void Entered::refuse(const CudaBackend& backend) const {
  throw Error(ErrorKind::environment, "cannot use the context of device " + backend.name() + ": " +
                                          driver_.describe(result_));
}

CudaBackend::CudaBackend(int ordinal) : driver_(Driver::instance()), ordinal_(ordinal) {
  int count = 0;
  driver_.check(driver_.device_count(&count), "cannot count the CUDA devices");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorKind::usage,
                "device " + name() + ": wanted a CUDA device of that number, found " +
                    std::to_string(count) + (count == 1 ? " device" : " devices"),
                count == 0 ? "run on the CPU (--on cpu)"
                           : "devices are cuda:0 to cuda:" + std::to_string(count - 1));
  }
  driver_.check(driver_.device_get(&device_, ordinal), "cannot open device " + name());
  std::array<char, 256> text{};
  driver_.check(driver_.device_name(text.data(), static_cast<int>(text.size()) - 1, device_),
                "cannot ask the name of device " + name());
  chip_ = text.data();
  int version = 0;
  driver_.check(driver_.driver_version(&version), "cannot ask the version of the CUDA driver");
  facts_.driver = DriverVersion::from_cuda(version);
  read_attributes();
  if (!attributes_.memory_pools) own_pool_ = std::make_unique<StreamPool>(driver_);
  driver_.check(driver_.context_retain(&context_, device_),
                "cannot make a context on device " + name());
}

CudaBackend::~CudaBackend() {
  {
    const Entered entered(*this);
    if (own_pool_) own_pool_->trim();
    if (cuda::MemoryPool made = pool_) driver_.pool_destroy(made);
  }
  driver_.context_release(device_);
}

int CudaBackend::attribute(DeviceAttribute which) const {
  int value = 0;
  driver_.check(
      driver_.device_attribute(&value, static_cast<int>(which), device_),
      "cannot ask attribute " + std::to_string(static_cast<int>(which)) + " of device " + name());
  return value;
}

void CudaBackend::read_attributes() {
  const auto yes = [&](DeviceAttribute which) { return attribute(which) != 0; };
  attributes_.multiprocessors = attribute(DeviceAttribute::multiprocessor_count);
  attributes_.max_threads_per_block = attribute(DeviceAttribute::max_threads_per_block);
  attributes_.shared_bytes_per_block =
      static_cast<u64>(attribute(DeviceAttribute::max_shared_per_block_optin));
  attributes_.integrated = yes(DeviceAttribute::integrated);
  attributes_.maps_host_memory = yes(DeviceAttribute::can_map_host_memory);
  attributes_.registers_host_memory = yes(DeviceAttribute::host_register_supported);
  attributes_.managed_memory = yes(DeviceAttribute::managed_memory);
  attributes_.concurrent_managed_access = yes(DeviceAttribute::concurrent_managed_access);
  attributes_.memory_pools = yes(DeviceAttribute::memory_pools_supported);
  facts_.capability = Capability(attribute(DeviceAttribute::capability_major),
                                 attribute(DeviceAttribute::capability_minor));
  facts_.integrated = attributes_.integrated;
}

std::string CudaBackend::description() const {
  return chip_ + ", " + facts_.capability.name() + ", driver " + facts_.driver.name();
}

MemoryInfo CudaBackend::memory() const {
  const Entered entered(*this);
  entered.or_throw(*this);
  std::size_t free = 0;
  std::size_t total = 0;
  driver_.check(driver_.memory_info(&free, &total), "cannot ask the memory of device " + name());
  return {free, total};
}

Target CudaBackend::compile_target() const {
  // The newest known capability whose PTX this device loads: its own, where the table has it.
  const CapabilityInfo* best = nullptr;
  for (const CapabilityInfo& info : known_capabilities()) {
    if (info.capability.suffix() != Capability::Suffix::none) continue;
    if (fit_ptx(facts_, info.capability, info.ptx_floor) == Fit::no) continue;
    if (best == nullptr || best->capability.number() < info.capability.number()) best = &info;
  }
  if (best == nullptr) {
    throw Error(ErrorKind::board,
                "wanted a device that loads code of " +
                    known_capabilities().front().capability.name() + " or later, found " +
                    description(),
                "use a newer device or driver, or run on the CPU (--on cpu)");
  }
  return Target(best->capability);
}

Artifact CudaBackend::choose(const std::string& kernel, const std::vector<fs::path>& candidates,
                             const std::string& where) const {
  return choose_for_cuda(kernel, candidates, where, facts_);
}

std::unique_ptr<LoadedKernel> CudaBackend::load(const Artifact& artifact, const fs::path& path) {
  return load_cuda_kernel(*this, artifact, path);
}

std::shared_ptr<StreamState> CudaBackend::make_stream(DeviceState& device, bool is_default) {
  const Entered entered(*this);
  entered.or_throw(*this);
  // The default stream waits for, and is waited for by, the legacy stream of other libraries.
  const unsigned flags = is_default ? 0 : cuda::stream_non_blocking;
  cuda::Stream stream = nullptr;
  driver_.check(driver_.stream_create(&stream, flags), "cannot make a stream on device " + name());
  return std::make_shared<CudaStream>(device, *this, stream, true);
}

std::shared_ptr<StreamState> CudaBackend::wrap_stream(DeviceState& device, void* native) {
  const auto stream = static_cast<cuda::Stream>(native);
  const Entered entered(*this);
  entered.or_throw(*this);
  cuda::Context context = nullptr;
  driver_.check(driver_.stream_context(stream, &context),
                "cannot ask the context of a stream for device " + name());
  if (context != context_) {
    throw Error(ErrorKind::usage,
                "wanted a stream of the primary context of device " + name() +
                    ", found one of another context",
                "make the stream in the primary context (cuDevicePrimaryCtxRetain, or the CUDA "
                "runtime with that device set)");
  }
  return std::make_shared<CudaStream>(device, *this, stream, false);
}

std::shared_ptr<EventState> CudaBackend::make_event(DeviceState& device) {
  const Entered entered(*this);
  entered.or_throw(*this);
  cuda::Event event = nullptr;
  driver_.check(driver_.event_create(&event, 0), "cannot make an event on device " + name());
  return std::make_shared<CudaEvent>(device, *this, event);
}

std::string CudaBackend::finish() {
  const Entered entered(*this);
  entered.or_throw(*this);
  const cuda::Result result = driver_.context_synchronize();
  return result == 0 ? std::string() : driver_.describe(result);
}

void CudaBackend::note_idle(Capability code) {
  if (code.major() >= facts_.capability.major()) return;
  std::call_once(idle_noted_, [&] {
    log(LogLevel::notice, "code for " + code.name() + " on " + facts_.capability.name() +
                              ": its newer Tensor Cores stay idle");
  });
}

std::unique_ptr<Backend> make_cuda_backend(int ordinal) {
  return std::make_unique<CudaBackend>(ordinal);
}

int cuda_devices(std::string* why) {
  try {
    const Driver& driver = Driver::instance();
    int count = 0;
    driver.check(driver.device_count(&count), "cannot count the CUDA devices");
    if (count == 0) *why = "the CUDA driver has no device";
    return count;
  } catch (const Error& error) {
    *why = error.message();
  }
  return 0;
}

}  // namespace teeny::detail
