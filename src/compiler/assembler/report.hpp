#pragma once

#include <cstdint>
#include <string_view>

namespace teeny::compiler {

/// What `ptxas -v` says of one kernel. What it does not say stays unknown.
struct AssemblerReport {
  int registers = -1;
  int spill_bytes = -1;  ///< stores and loads together
  std::uint64_t static_shared_bytes = 0;
};

[[nodiscard]] AssemblerReport read_report(std::string_view text, std::string_view kernel);

}  // namespace teeny::compiler
