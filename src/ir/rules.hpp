#pragma once

#include <string>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// Attributes of an operation, as a set.
enum Attribute : unsigned {
  attribute_bits = 1,
  attribute_index = 2,
  attribute_dims = 4,
  attribute_predicate = 8,
  attribute_cache = 16,
  attribute_precision = 32,
};

/// The shape of an opcode, whatever its types: what printer, parser and verifier agree on.
struct OpcodeRules {
  std::string_view name;
  std::size_t min_operands = 0;
  std::size_t max_operands = 0;
  unsigned attributes = 0;  ///< those it has; cache and precision are printed when not the default
  std::size_t regions = 0;
  bool stated_type = false;
};

[[nodiscard]] const OpcodeRules& rules(Opcode code) noexcept;

[[nodiscard]] std::string_view name(Cache cache) noexcept;
[[nodiscard]] std::string_view name(Precision precision) noexcept;
/// An identifier of bearable length: a kernel's name.
[[nodiscard]] bool is_kernel_name(std::string_view name) noexcept;

/// `verify`, counting operations in text order (each before its regions) in `*position`, so that
/// one who knows where the n-th operation stands can say where a rule is broken. Operation 0 is the
/// kernel's own line, which yields count too.
void verify_counting(const Kernel& kernel, std::size_t* position);

}  // namespace teeny::ir
