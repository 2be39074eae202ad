#include "places.hpp"

#include "cuda/facts.hpp"
#include "holdings.hpp"
#include "target/loading_rules.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/finding.hpp"
#include "teeny/cache/choose.hpp"
#include "teeny/runtime/memory_need.hpp"

namespace fs = std::filesystem;

namespace teeny::detail {

namespace {

std::string describe_device(const DeviceFacts& facts) {
  return facts.capability.name() + ", driver " + facts.driver.name();
}

int misfit_code(const ArtifactInfo& info, const DeviceFacts& device) {
  if (!info.capability) return finding_code::incomplete;
  const bool takes =
      info.kind == ArtifactKind::ptx
          ? capability_takes_ptx(device.capability, *info.capability, device.holder, nullptr)
          : fit_capability(device, *info.capability) != Fit::no;
  return takes ? finding_code::driver : finding_code::capability;
}

Verdict judge_cuda(const ArtifactInfo& info, const Place& place) {
  const std::string sm = info.capability ? info.capability->name() : "an unknown capability";
  if (!place.device) {
    return {false, "wanted a CUDA device for code of " + sm + ", " + place.name + " has none",
            finding_code::capability};
  }
  std::string why;
  const Fit fit = fit_cuda(info, *place.device, &why);
  switch (fit) {
    case Fit::no:
      return {false, why, misfit_code(info, *place.device)};
    case Fit::ptx:
      return {true, form_of(info) + ", compiled by the driver when it is first launched"};
    case Fit::compatible_machine_code:
      return {true, "compatible " + form_of(info)};
    case Fit::exact_machine_code:
      return {true, "exact " + form_of(info)};
  }
  return {};
}

}  // namespace

std::vector<Place> places_here(DeviceKind kind, std::string* why_none) {
  std::vector<Place> places;
  if (kind == DeviceKind::cpu) {
    const CpuTarget host = host_cpu_target();
    places.push_back({kind, "cpu", host.triple + " " + host.cpu});
    places.back().processor = Processor{host, processor_features()};
    return places;
  }
  for (CudaDeviceFacts& found : cuda_device_facts(why_none)) {
    found.facts.holder = "device " + found.name;
    places.push_back({kind, found.name, found.description, false, found.facts, found.shared_bytes});
  }
  return places;
}

Place place_on(const Board& board, DeviceKind kind) {
  Place place{kind, board.full_name(), board.description, true};
  if (kind == DeviceKind::cpu) {
    place.description = board.triple + " " + board.cpu;
    place.processor = processor_of(board);
    return place;
  }
  place.device = device_facts(board);
  if (!place.device) return place;
  place.description = describe_device(*place.device);
  if (board.shared_memory_kib > 0) {
    place.shared_bytes = static_cast<std::uint64_t>(board.shared_memory_kib) * 1024;
  }
  place.memory_bytes = static_cast<std::uint64_t>(board.memory_mib) << 20U;
  return place;
}

Verdict judge(const ArtifactInfo& info, const Place& place) {
  if (place.kind == DeviceKind::cuda) return judge_cuda(info, place);
  try {
    const Target target = Target::parse_canonical(info.target);
    std::string why = "does not say its CPU";
    if (target.is_cpu() && cpu_fits(target.cpu(), *place.processor, &why)) {
      return {true, form_of(info)};
    }
    return {false, why, finding_code::capability};
  } catch (const Error& error) {
    return {false, error.message(), finding_code::incomplete};
  }
}

Artifact choose_for(const Place& place, const std::string& kernel,
                    const std::vector<fs::path>& fitting) {
  if (place.kind == DeviceKind::cuda) {
    return choose_for_cuda(kernel, fitting, place.name, *place.device);
  }
  return choose_for_processor(kernel, fitting, place.name, *place.processor);
}

MemoryFit device_memory_fit(const Place& place, std::string* why) {
  const auto declared = declared_memory_need();
  std::uint64_t total = place.memory_bytes;
  std::uint64_t available = total;
  if (!place.is_board && declared) {
    const MemoryInfo memory = Device::open(place.name).memory();
    total = memory.total;
    available = memory.free;
  }
  return fit_memory(declared, available, memory_margin(total), place.device->holder, why);
}

std::optional<std::string> memory_problem(const ArtifactInfo& info, const Place& place) {
  const std::uint64_t wanted = info.shared_bytes + info.static_shared_bytes;
  if (!place.shared_bytes || wanted <= *place.shared_bytes) return std::nullopt;
  return "wanted " + std::to_string(wanted) + " bytes of shared memory a block, " +
         place.device->holder + " has " + std::to_string(*place.shared_bytes);
}

std::string way_to_compile(const Place& place) {
  if (place.is_board)
    return "make the package for this board (teeny package --target " + place.name + ")";
  std::string options;
  if (place.kind == DeviceKind::cpu) {
    options = "cpu --options cpu=" + place.processor->target.cpu;
  } else {
    options = "cuda --options capability=" + place.device->capability.name() +
              ",driver=" + place.device->driver.name();
  }
  return "compile it ahead of time for this device (teeny package, or teeny aot --device " +
         options + ")";
}

}  // namespace teeny::detail
