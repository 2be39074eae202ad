#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tool/commands/devices.hpp"
#include "tool/project/project.hpp"

namespace teeny::tool {

/// The programs of a host tree that `targets` name: all of them when there are no targets.
[[nodiscard]] std::vector<TargetInfo> programs_of(const BuildTree& host,
                                                  const std::vector<TargetInfo>& targets);

/// Lets each program, as it is built in the host tree, trace and verify its kernels and compile
/// them for the devices (PTX and CPU code; what is compiled already is not compiled again, and is
/// kept in `cache`). Returns how many kernels there are; programs without teeny's flags have none,
/// and are named. Error with the program's exit code when a kernel does not verify or its device
/// cannot take it.
std::size_t check_kernels(const BuildTree& host, const std::vector<TargetInfo>& programs,
                          const std::vector<DeviceArgument>& devices,
                          const std::filesystem::path& cache);

/// What kernels are checked for: the given devices, completed for the board and without machine
/// code; where there are none, the board's GPU, or its processor if it has no GPU. Error(usage)
/// where the board cannot take one.
[[nodiscard]] std::vector<DeviceArgument> devices_to_check(const std::vector<DeviceArgument>& given,
                                                           const Board& board);

}  // namespace teeny::tool
