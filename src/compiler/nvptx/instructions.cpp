#include "compiler/nvptx/instructions.hpp"

#include <algorithm>
#include <string>

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Block;
using ir::Op;
using ir::Opcode;

const std::vector<FamilyInfo>& all_families() {
  // From the PTX ISA's notes on each instruction and what LLVM 19 and ptxas 13 accept.
  static const std::vector<FamilyInfo> table = {
      {Family::shuffle, "shfl.sync", Capability{3, 0}, {6, 0}},
      {Family::convert_bf16, "cvt.rn.bf16.f32", Capability::sm_80, {7, 0}},
      {Family::min_nan, "min.NaN.f32", Capability::sm_80, {7, 0}},
      {Family::warp_reduce, "redux.sync", Capability::sm_80, {7, 0}},
  };
  return table;
}

const FamilyInfo& info(Family family) {
  const auto& table = all_families();
  return *std::find_if(table.begin(), table.end(),
                       [family](const FamilyInfo& row) { return row.family == family; });
}

bool has(Capability capability, Family family) {
  return capability.number() >= info(family).capability.number();
}

namespace {

void scan(const Block& block, const ir::Kernel& kernel, std::set<Family>& families) {
  for (const Op& op : block.ops) {
    for (const Block& region : op.regions) scan(region, kernel, families);
    for (const ir::ValueId result : op.results) {
      const ir::Type& type = kernel.type(result);
      // Whatever holds several elements may have to change its layout.
      if (type.count() > 1) families.insert(Family::shuffle);
      if (type.pointer || op.code == Opcode::load || !ir::is_elementwise(op.code)) continue;
      if (type.dtype == DType::bf16) families.insert(Family::convert_bf16);
      if (op.code == Opcode::minimum || op.code == Opcode::maximum) {
        if (is_float(type.dtype) && type.dtype != DType::f64) families.insert(Family::min_nan);
      }
    }
    if (op.code == Opcode::reduce) {
      families.insert(Family::shuffle);
      families.insert(Family::warp_reduce);
    }
  }
}

}  // namespace

std::set<Family> families_of(const ir::Kernel& kernel, Capability capability) {
  std::set<Family> families;
  scan(kernel.body, kernel, families);
  // What the chip lacks is made of other instructions.
  std::erase_if(families, [capability](Family family) { return !has(capability, family); });
  return families;
}

PtxVersion choose_ptx_version(const ir::Kernel& kernel, Capability capability,
                              const std::set<Family>& families, std::optional<PtxVersion> asked) {
  const CapabilityInfo* target = find_capability(capability);
  if (target == nullptr) {
    throw Error(ErrorKind::input, "kernel " + kernel.name + ": wanted a capability that teeny " +
                                      "compiles for, found " + capability.name());
  }
  if (asked && *asked < target->ptx_floor) {
    throw Error(ErrorKind::input,
                "kernel " + kernel.name + ": wanted PTX " + target->ptx_floor.name() +
                    " or later, the floor of target " + capability.name() + ", found " +
                    asked->name(),
                "raise ptx-version, or leave it out");
  }
  PtxVersion lowest = target->ptx_floor;
  for (const Family family : families) {
    const FamilyInfo& row = info(family);
    lowest = std::max(lowest, row.ptx_floor);
    if (asked && *asked < row.ptx_floor) {
      throw Error(ErrorKind::input,
                  "kernel " + kernel.name + ": wanted PTX " + row.ptx_floor.name() +
                      " or later, the floor of its instruction " + std::string(row.spelling) +
                      " (target " + capability.name() + " alone needs " + target->ptx_floor.name() +
                      "), found " + asked->name(),
                  "raise ptx-version, or leave it out");
    }
  }
  return asked.value_or(lowest);
}

}  // namespace teeny::compiler::nvptx
