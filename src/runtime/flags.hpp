#pragma once

#include <optional>
#include <string>
#include <vector>

namespace teeny::detail {

/// `--device` with the `--options` that follow it.
struct DeviceFlag {
  std::string device;
  std::optional<std::string> options = {};
};

/// A command line with teeny's flags taken out.
struct Flags {
  std::vector<DeviceFlag> devices;
  std::optional<std::string> cache_directory;
  std::optional<std::string> on;
  std::optional<std::string> board;    ///< of --check
  std::optional<std::string> inspect;  ///< a kernel
  bool force = false;
  bool list = false;
  bool check = false;
  bool device_facts = false;
  bool help = false;
  std::vector<std::string> rest;
};

/// `words` are the arguments without the program's name. Error(usage) for a flag without its value,
/// one that is given twice, and ones that do not go together. The values are not judged here.
[[nodiscard]] Flags take_flags(const std::vector<std::string>& words);

/// What --help-teeny prints.
[[nodiscard]] std::string flags_help();

}  // namespace teeny::detail
