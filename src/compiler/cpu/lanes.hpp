#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <llvm/IR/Value.h>

namespace teeny::compiler::cpu {

/// Which elements of a tile a piece of straight-line code computes: `lanes` of them at once, lane l
/// at index base[d] + step[d][l] along dimension d. All extents are powers of two and the bits that
/// the lanes fill are zero in the bases, so mapping a point through reshape, permute and broadcast
/// maps base and steps apart.
struct Point {
  int lanes = 1;
  std::vector<llvm::Value*> base;               ///< i64
  std::vector<std::vector<std::int64_t>> step;  ///< [dimension][lane]
};
using PointRef = std::shared_ptr<const Point>;

/// The elements at a point.
struct Lanes {
  llvm::Value* uniform = nullptr;  ///< the element itself, where all lanes have the same
  llvm::Value* vector = nullptr;   ///< else <lanes x element>
  /// i32 and i64: lane l is start + steps[l], in 64 bits, provided that no index wraps around. Good
  /// for addresses only: a wrapped index in a valid program is of a lane that is masked off. Null
  /// where no such form is known.
  llvm::Value* start = nullptr;
  std::vector<std::int64_t> steps = {};
  /// Pointers that are not uniform: where this is set, lane l points at element `vector[l]` (i64)
  /// of `pointer`; where `start` is known too, that is start + steps[l].
  llvm::Value* pointer = nullptr;
};

}  // namespace teeny::compiler::cpu
