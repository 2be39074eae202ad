#pragma once

#include <memory>
#include <string>
#include <vector>

#include "teeny/ir/builder.hpp"

namespace teeny {

class AnyTile;

namespace lang {

/// A recording in progress. While one lives, every operation of the language on this thread goes
/// into its kernel; the one that was there before comes back when it ends.
class Trace {
 public:
  Trace(std::string name, const std::vector<ir::Type>& parameters, ir::KernelOptions options);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  [[nodiscard]] AnyTile parameter(std::size_t index) const;
  /// The recorded kernel, verified. The trace is spent.
  [[nodiscard]] ir::Kernel finish();

 private:
  friend struct Recorder;
  ir::Builder builder_;
  unsigned serial_;
  Trace* outer_;
};

/// Whether this thread is recording a kernel.
[[nodiscard]] bool in_trace() noexcept;

}  // namespace lang
}  // namespace teeny
