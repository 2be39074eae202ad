#pragma once

#include <unordered_map>
#include <vector>

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler::cpu {

/// Which tiles of a kernel exist in memory, and for how long. All others are computed element by
/// element in the loops of what uses them.
///
/// A tile is stored where a loop nest ends in it anyway (results of reduce, dot, fold and if),
/// where its load may not move down to its use (a write between, or one that the use itself makes),
/// and where computing it again at each use would cost more than reading it back.
struct Plan {
  std::vector<bool> stored;               ///< by ValueId
  std::vector<const ir::Op*> definition;  ///< null: an argument of a block
  std::unordered_map<const ir::Op*, std::vector<ir::ValueId>> dead_after;  ///< stored tiles
  /// Stored tiles whose only use is to be the yield of their own block.
  std::vector<bool> only_yielded;
};

[[nodiscard]] Plan make_plan(const ir::Kernel& kernel);

}  // namespace teeny::compiler::cpu
