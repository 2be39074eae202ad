#include "teeny/target/loading.hpp"

#include "loading_rules.hpp"

namespace teeny {

namespace {

std::string number_of(Capability capability) {
  return std::to_string(capability.major()) + "." + std::to_string(capability.minor());
}

}  // namespace

namespace detail {

bool capability_takes_ptx(Capability device, Capability target, std::string_view holder,
                          std::string* why) {
  const std::string has = ", " + std::string(holder) + " has " + number_of(device);
  switch (target.suffix()) {
    case Capability::Suffix::none:
      if (device.number() >= target.number()) return true;
      return refuse(why, "wanted capability " + number_of(target) + " or later for PTX of " +
                             target.name() + has);
    case Capability::Suffix::arch:
      if (device.number() == target.number()) return true;
      return refuse(why, "wanted capability " + number_of(target) + " exactly for PTX of " +
                             target.name() + has);
    case Capability::Suffix::family:
      if (device.major() == target.major() && device.minor() >= target.minor()) return true;
      return refuse(why, "wanted capability " + number_of(target) + " or later of family " +
                             std::to_string(target.major()) + " for PTX of " + target.name() + has);
  }
  return false;
}

bool version_loads(std::optional<PtxVersion> ceiling, Capability target, PtxVersion version,
                   std::string_view holder, const std::string& driver, std::string* why) {
  const CapabilityInfo* info = find_capability(target);
  if (info != nullptr && version < info->ptx_floor) {
    return refuse(why, "wanted PTX " + info->ptx_floor.name() + " or later, the floor of " +
                           target.name() + ", the kernel has PTX " + version.name());
  }
  if (ceiling && version <= *ceiling) return true;
  const auto oldest = oldest_driver_for(version);
  std::string wanted = "wanted a driver that loads PTX " + version.name();
  if (oldest) wanted += " (CUDA " + oldest->name() + " or later)";
  return refuse(why, wanted + ", " + std::string(holder) + " has " + driver +
                         (ceiling ? ", whose ceiling is PTX " + ceiling->name()
                                  : ", older than any that teeny serves"));
}

}  // namespace detail

Fit fit_ptx(const DeviceFacts& device, Capability target, PtxVersion version, std::string* why) {
  const bool fits = detail::capability_takes_ptx(device.capability, target, device.holder, why) &&
                    detail::version_loads(ptx_ceiling(device.driver), target, version,
                                          device.holder, "driver " + device.driver.name(), why);
  return fits ? Fit::ptx : Fit::no;
}

Fit fit_capability(const DeviceFacts& device, Capability target, std::string* why) {
  const std::string has = ", " + device.holder + " has " + number_of(device.capability);
  if (device.capability.number() == target.number()) return Fit::exact_machine_code;
  const auto exactly = [&](const std::string& because) {
    detail::refuse(why, "wanted capability " + number_of(target) + " exactly for machine code of " +
                            target.name() + because + has);
    return Fit::no;
  };
  if (device.integrated) return exactly(", as the device is an integrated chip");
  const CapabilityInfo* info = find_capability(target);
  if (info != nullptr && info->integrated) return exactly(", an integrated chip");
  if (target.suffix() == Capability::Suffix::arch) return exactly("");
  if (device.capability.major() == target.major() && device.capability.minor() > target.minor()) {
    return Fit::compatible_machine_code;
  }
  detail::refuse(why, "wanted capability " + std::to_string(target.major()) + ".x, x at least " +
                          std::to_string(target.minor()) + ", for machine code of " +
                          target.name() + has);
  return Fit::no;
}

Fit fit_machine_code(const DeviceFacts& device, const MachineCode& code, std::string* why) {
  const Fit fit = fit_capability(device, code.capability, why);
  if (fit == Fit::no || !driver_takes(device.driver, code.assembler, why, device.holder))
    return Fit::no;
  const auto known = elf_abi({device.driver.major, device.driver.minor, 0}, code.capability);
  // An assembler that is not what it says it is.
  if (code.elf_abi && known && *code.elf_abi > known->version) {
    detail::refuse(why, "wanted ELF ABI " + std::to_string(known->version) +
                            " or lower for machine code of " + code.capability.name() +
                            " on driver " + device.driver.name() + ", the code has ABI " +
                            std::to_string(*code.elf_abi));
    return Fit::no;
  }
  return fit;
}

}  // namespace teeny
