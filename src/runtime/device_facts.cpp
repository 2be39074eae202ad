#include "device_facts.hpp"

#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "cuda/facts.hpp"

#include "teeny/base/error.hpp"
#include "teeny/runtime/device.hpp"

namespace teeny::detail {

namespace {

using nlohmann::ordered_json;

ordered_json device_json(const CudaDeviceFacts& found) {
  ordered_json entry = {{"name", found.name},
                        {"description", found.description},
                        {"capability", found.facts.capability.name()},
                        {"driver", found.facts.driver.name()},
                        {"integrated", found.facts.integrated},
                        {"shared_bytes", found.shared_bytes}};
  try {
    const Device device = Device::open(found.name);
    const MemoryInfo memory = device.memory();
    entry["multiprocessors"] = device.attributes().multiprocessors;
    entry["memory_total"] = memory.total;
    entry["memory_free"] = memory.free;
  } catch (const Error& error) {
    entry["not_opened"] = error.message();
  }
  return entry;
}

}  // namespace

int print_device_facts() {
  std::string why;
  ordered_json root = {{"schema", "teeny-device-facts/1"}, {"devices", ordered_json::array()}};
  for (const CudaDeviceFacts& found : cuda_device_facts(&why)) {
    root["devices"].push_back(device_json(found));
  }
  if (root["devices"].empty()) root["why_none"] = why;
  const std::string text = root.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace teeny::detail
