#pragma once

#include <functional>
#include <string>
#include <vector>

#include "teeny/runtime/device.hpp"

namespace teeny {

/// A program with kernels, as its command line asked for it. Made first thing in main, it takes
/// teeny's own flags out of the arguments:
///
///   --device D --options O   compile every kernel of this program for device D (cuda or cpu), and
///     [--cache-dir DIR]      stop; both may repeat, each --options belonging to the --device
///     before
///     [--force]              it. No device is needed, and main goes no further.
///   --list                   print the kernels, one a line (name, fingerprint, type), and the
///   weights
///                            (name, dtype and shape), and stop
///   --inspect KERNEL         print all that is known of a kernel and of its code, and stop
///   --check [--board FILE]   verify that every kernel is there and fits, without running, and stop
///   --device-facts           print what the CUDA driver says of its devices, as JSON, and stop
///   --on cpu|cuda[:N]        run on that device; else TEENY_DEVICE, else the best there is
///   --cache-dir DIR          in a plain run: look for (and put) kernels there
///   --help-teeny             say this, and stop
///   --                       what follows is the program's own, whatever it looks like
///
/// `--flag=value` is the same as `--flag value`. Everything else stays, in order, in `arguments()`.
/// A mistake in these flags ends the program with exit code 2 and a message, before anything was
/// done. From then on an Error that nobody catches ends it with its text and its exit code.
class Program {
 public:
  Program(int argc, const char* const* argv);

  /// The device chosen, opened at the first call.
  [[nodiscard]] const Device& device();
  /// The program's own arguments, its name not among them.
  [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::vector<std::string> arguments_;
  std::string device_name_;     ///< empty: the best there is
  std::vector<Device> device_;  ///< none or one
};

/// A whole main: `return teeny::run(argc, argv, [](teeny::Program& program) { ...; return 0; });`
/// An Error is printed with what to do next and becomes its exit code; any other exception 1.
[[nodiscard]] int run(int argc, const char* const* argv, const std::function<int(Program&)>& body);

}  // namespace teeny
