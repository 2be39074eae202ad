#pragma once

#include <string>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// SHA-256 (64 hexadecimal digits) over the kernel's canonical form: its data-flow graph, with
/// writes in program order and every read tied to the last write before it. Covers ir_version,
/// name, options, parameter types, and of each operation that an effect depends on: opcode,
/// attributes, element types, shapes and operands, all fields length-prefixed. Not covered: the
/// order in which pure operations were recorded, value numbers, dead or duplicate pure operations.
[[nodiscard]] std::string fingerprint(const Kernel& kernel);

}  // namespace teeny::ir
