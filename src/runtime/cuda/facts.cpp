#include "facts.hpp"

#include <algorithm>
#include <array>

#include "../backend.hpp"
#include "driver.hpp"

namespace teeny::detail {

namespace {

using cuda::DeviceAttribute;
using cuda::Driver;

CudaDeviceFacts facts_of(const Driver& driver, int ordinal, DriverVersion version) {
  const std::string name = "cuda:" + std::to_string(ordinal);
  cuda::DeviceNumber device = 0;
  driver.check(driver.device_get(&device, ordinal), "cannot open device " + name);
  std::array<char, 256> chip{};
  driver.check(driver.device_name(chip.data(), static_cast<int>(chip.size()) - 1, device),
               "cannot ask the name of device " + name);
  const auto ask = [&](DeviceAttribute attribute) {
    int value = 0;
    driver.check(driver.device_attribute(&value, static_cast<int>(attribute), device),
                 "cannot ask attribute " + std::to_string(static_cast<int>(attribute)) +
                     " of device " + name);
    return value;
  };
  const Capability capability(ask(DeviceAttribute::capability_major),
                              ask(DeviceAttribute::capability_minor));
  return {name,
          std::string(chip.data()) + ", " + capability.name() + ", driver " + version.name(),
          {capability, version, ask(DeviceAttribute::integrated) != 0},
          static_cast<std::uint64_t>(ask(DeviceAttribute::max_shared_per_block_optin))};
}

}  // namespace

std::vector<CudaDeviceFacts> cuda_device_facts(std::string* why) {
  std::vector<CudaDeviceFacts> found;
  const int count = cuda_devices(why);
  if (count == 0) {
    // Where a driver was looked for takes many lines; that there is none takes one.
    why->erase(std::min(why->find('\n'), why->size()));
    if (!why->empty() && why->back() == ':') why->pop_back();
    return found;
  }
  const Driver& driver = Driver::instance();
  int version = 0;
  driver.check(driver.driver_version(&version), "cannot ask the version of the CUDA driver");
  for (int i = 0; i < count; ++i) {
    found.push_back(facts_of(driver, i, DriverVersion::from_cuda(version)));
  }
  return found;
}

}  // namespace teeny::detail
