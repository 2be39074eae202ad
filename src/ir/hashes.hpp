#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

using Hash = std::array<std::uint8_t, 32>;

/// What a fingerprint is made of: equal hashes in two kernels mean the same value, or the same
/// operation on the same memory.
struct Hashes {
  std::string whole;                          ///< the fingerprint
  std::vector<Hash> values;                   ///< by ValueId
  std::unordered_map<const Op*, Hash> ops{};  ///< every operation but yields
};

[[nodiscard]] Hashes hashes_of(const Kernel& kernel);

}  // namespace teeny::ir
