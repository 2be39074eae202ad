#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "teeny/ir/kernel.hpp"
#include "teeny/target/capability.hpp"
#include "teeny/target/ptx_version.hpp"

namespace teeny::compiler::nvptx {

/// Families of PTX instructions that not every target has and that lowering may choose.
enum class Family {
  shuffle,       ///< shfl.sync
  convert_bf16,  ///< cvt.rn.bf16.f32
  min_nan,       ///< min.NaN, max.NaN of f32
  warp_reduce,   ///< redux.sync of 32-bit integers
};

/// What a family needs.
struct FamilyInfo {
  Family family;
  std::string_view spelling;  ///< for messages
  Capability capability;      ///< the lowest that has it
  PtxVersion ptx_floor;       ///< the lowest .version that knows it
};

[[nodiscard]] const FamilyInfo& info(Family family);
[[nodiscard]] const std::vector<FamilyInfo>& all_families();

/// Whether the chip has a family, whatever the PTX version.
[[nodiscard]] bool has(Capability capability, Family family);

/// Families that the code of a prepared kernel for this chip is made of: decided here, before
/// lowering, which uses no other.
[[nodiscard]] std::set<Family> families_of(const ir::Kernel& kernel, Capability capability);

/// The version that the artifact is written in: `asked`, else the lowest that serves the target and
/// all families. Error(input) naming the kernel, the instruction, its floor and what was asked when
/// `asked` is below an instruction's floor; one naming the target's floor when it is below that.
[[nodiscard]] PtxVersion choose_ptx_version(const ir::Kernel& kernel, Capability capability,
                                            const std::set<Family>& families,
                                            std::optional<PtxVersion> asked);

}  // namespace teeny::compiler::nvptx
