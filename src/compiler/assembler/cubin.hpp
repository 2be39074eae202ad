#pragma once

#include <optional>
#include <string_view>

#include "teeny/target/assembler.hpp"

namespace teeny::compiler {

/// What the ELF header of machine code says.
struct CubinHeader {
  ElfAbi abi;
  int capability = 0;  ///< 87
};

/// nullopt for bytes that are no whole ELF header of 64-bit machine code for NVIDIA's devices, or
/// that are fewer than the tables of the header ask for.
[[nodiscard]] std::optional<CubinHeader> read_cubin_header(std::string_view bytes);

}  // namespace teeny::compiler
