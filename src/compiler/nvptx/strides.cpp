#include "compiler/nvptx/strides.hpp"

#include <algorithm>
#include <numeric>

namespace teeny::compiler::nvptx {

using ir::Op;
using ir::Opcode;
using ir::ValueId;

namespace {

std::int64_t sign_extended(std::uint64_t bits, DType dtype) {
  const int unused = 64 - bits_of(dtype);
  if (is_signed_int(dtype)) return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(bits);
}

}  // namespace

Strides::Strides(const ir::Kernel& kernel)
    : kernel_(kernel), steps_(kernel.values.size()), constants_(kernel.values.size()) {
  for (ValueId value = 0; value < kernel.values.size(); ++value) {
    steps_[value].resize(kernel.values[value].shape.size());
  }
  visit(kernel.body);
}

void Strides::visit(const ir::Block& block) {
  for (const Op& op : block.ops) {
    for (const ir::Block& region : op.regions) visit(region);
    if (op.results.size() != 1) continue;
    const ValueId result = op.results[0];
    const ir::Type& type = kernel_.type(result);
    if (op.code == Opcode::constant && is_int(type.dtype)) {
      constants_[result] = sign_extended(op.bits, type.dtype);
    } else if (op.code == Opcode::broadcast || op.code == Opcode::reshape ||
               (op.code == Opcode::cast && is_int(type.dtype))) {
      constants_[result] = constants_[op.operands[0]];
    }
    steps_[result] = steps_of(op);
  }
}

// Integers may wrap, so these are steps between most neighbours and promise nothing: they order
// dimensions, and no address is computed from them.
Strides::Steps Strides::steps_of(const Op& op) const {
  const ir::Type& type = kernel_.type(op.results[0]);
  Steps unknown(type.shape.size());
  const auto steps = [&](std::size_t i) -> const Steps& { return steps_[op.operands[i]]; };
  const auto combined = [&](const auto& combine) {
    Steps result = unknown;
    for (std::size_t d = 0; d < result.size(); ++d) {
      if (!steps(0)[d] || !steps(1)[d]) continue;
      result[d] = static_cast<std::int64_t>(combine(static_cast<std::uint64_t>(*steps(0)[d]),
                                                    static_cast<std::uint64_t>(*steps(1)[d])));
    }
    return result;
  };
  switch (op.code) {
    case Opcode::constant:
      return Steps(type.shape.size(), 0);
    case Opcode::arange:
      return {1};
    case Opcode::broadcast: {
      const ir::Shape& from = kernel_.type(op.operands[0]).shape;
      Steps result(type.shape.size(), 0);
      for (std::size_t d = 0; d < from.size(); ++d) {
        if (from[d] == type.shape[d]) result[d] = steps(0)[d];
      }
      return result;
    }
    case Opcode::permute: {
      Steps result;
      for (const int d : op.dims) result.push_back(steps(0)[static_cast<std::size_t>(d)]);
      return result;
    }
    case Opcode::reshape: {
      // Dimensions of one element aside, the same extents in the same order keep their steps.
      const ir::Shape& from = kernel_.type(op.operands[0]).shape;
      Steps result(type.shape.size(), 0);
      std::size_t old = 0;
      for (std::size_t d = 0; d < type.shape.size(); ++d) {
        if (type.shape[d] == 1) continue;
        while (old < from.size() && from[old] == 1) ++old;
        if (old == from.size() || from[old] != type.shape[d]) return unknown;
        result[d] = steps(0)[old++];
      }
      return result;
    }
    case Opcode::cast:
      return is_int(type.dtype) && is_int(kernel_.type(op.operands[0]).dtype) ? steps(0) : unknown;
    case Opcode::add:
    case Opcode::offset:
      return combined([](std::uint64_t a, std::uint64_t b) { return a + b; });
    case Opcode::sub:
      return combined([](std::uint64_t a, std::uint64_t b) { return a - b; });
    case Opcode::mul: {
      Steps result = unknown;
      for (std::size_t d = 0; d < result.size(); ++d) {
        for (std::size_t i = 0; i < 2; ++i) {
          const auto step = steps(i)[d];
          const auto factor = constants_[op.operands[1 - i]];
          if (step && factor) {
            result[d] = static_cast<std::int64_t>(static_cast<std::uint64_t>(*step) *
                                                  static_cast<std::uint64_t>(*factor));
          } else if (step == 0 && steps(1 - i)[d] == 0) {
            result[d] = 0;
          }
        }
      }
      return result;
    }
    default: {
      // Whatever is done to each element, where all operands stay the same, so does the result.
      Steps result = unknown;
      if (!ir::is_elementwise(op.code)) return result;
      for (std::size_t d = 0; d < result.size(); ++d) {
        bool constant = true;
        for (std::size_t i = 0; i < op.operands.size(); ++i)
          constant = constant && steps(i)[d] == 0;
        if (constant) result[d] = 0;
      }
      return result;
    }
  }
}

std::vector<int> Strides::memory_order(ValueId pointer) const {
  const Steps& steps = steps_.at(pointer);
  std::vector<int> order(steps.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const auto rank = [&](int d) {
    const auto step = steps[static_cast<std::size_t>(d)];
    if (step == 1 || step == -1) return 0;
    return step == 0 ? 2 : 1;
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a > b; });
  return order;
}

}  // namespace teeny::compiler::nvptx
