#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "teeny/target/board.hpp"
#include "teeny/target/options.hpp"

namespace CLI {
class App;
}

namespace teeny::tool {

/// One `--device D` with the `--options O` that followed it, byte for byte.
struct DeviceArgument {
  std::string device;
  std::optional<std::string> options = {};
};

/// The `--device` and `--options` of one command line, in their order.
class DeviceFlags {
 public:
  void add_to(CLI::App& command);
  /// Pairs each --options with the --device before it. Error(usage) for an --options before any
  /// --device, or a second one for the same --device; `required`: also for no --device at all.
  [[nodiscard]] std::vector<DeviceArgument> arguments(bool required) const;

 private:
  struct Words;
  std::shared_ptr<Words> words_;
};

/// Checks the options of one device as the program will (same parser), before anything is built;
/// TEENYC_PTX_VERSION is heard. cpu without `cpu` means this machine.
[[nodiscard]] CompileRequest check_device(const DeviceArgument& argument);

/// The same for a board: what is missing is taken from the board and appended (capability and
/// driver; triple and cpu; never ptx-version), and a conflict with the board is Error(usage).
/// Where no machine code of the capability asked for could load on the board, machine-code=no is
/// appended.
struct BoardRequest {
  CompileRequest request;             ///< of the completed options
  std::string options;                ///< the user's bytes with what was appended
  std::vector<std::string> appended;  ///< "driver=12.2"
};
[[nodiscard]] BoardRequest check_device_for_board(const DeviceArgument& argument,
                                                  const Board& board);

/// The words that carry the devices to a program: --device D [--options O] ...
[[nodiscard]] std::vector<std::string> forwarded(const std::vector<DeviceArgument>& arguments);

}  // namespace teeny::tool
