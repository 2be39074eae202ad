#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tool/commands/devices.hpp"

namespace teeny::tool {

/// Starts a program built for this machine with the flags that make it compile its kernels and
/// stop. `output_to_error`: what it prints goes to our standard error.
struct AotRun {
  std::filesystem::path program;
  std::vector<DeviceArgument> devices;
  std::optional<std::string> cache_directory = {};
  bool force = false;
  bool capture_output = false;
};
struct AotResult {
  int exit_code = 0;
  std::string output;  ///< where it was captured
};
AotResult run_aot_program(const AotRun& aot);

}  // namespace teeny::tool
