#include <algorithm>
#include <bit>
#include <optional>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/nvptx/emitter.hpp"
#include "compiler/nvptx/instructions.hpp"

namespace teeny::compiler::nvptx {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

namespace {

/// What the warps tell one another of one reduction is passed in pieces of at most this many bytes.
constexpr std::uint64_t max_exchange_bytes = 16384;

/// The operation, if the function is one operation on its two arguments that gives the same bits in
/// either order.
std::optional<Opcode> commuting_operation(const Op& op) {
  const Block& region = op.regions[0];
  if (op.results.size() != 1 || region.ops.size() != 2) return std::nullopt;
  const Op& only = region.ops[0];
  std::vector<ValueId> operands = only.operands;
  std::sort(operands.begin(), operands.end());
  std::vector<ValueId> arguments = region.arguments;
  std::sort(arguments.begin(), arguments.end());
  if (operands != arguments || region.ops[1].operands != only.results) return std::nullopt;
  switch (only.code) {
    case Opcode::add:
    case Opcode::mul:
    case Opcode::minimum:
    case Opcode::maximum:
    case Opcode::bit_and:
    case Opcode::bit_or:
    case Opcode::bit_xor:
      return only.code;
    default:
      return std::nullopt;
  }
}

/// The instruction that reduces a 32-bit integer over all lanes of a warp.
std::optional<llvm::Intrinsic::ID> warp_reduction(Opcode code, DType dtype) {
  if (dtype != DType::i32 && dtype != DType::u32) return std::nullopt;
  const bool is_signed = dtype == DType::i32;
  switch (code) {
    case Opcode::add:
      return llvm::Intrinsic::nvvm_redux_sync_add;
    case Opcode::minimum:
      return is_signed ? llvm::Intrinsic::nvvm_redux_sync_min
                       : llvm::Intrinsic::nvvm_redux_sync_umin;
    case Opcode::maximum:
      return is_signed ? llvm::Intrinsic::nvvm_redux_sync_max
                       : llvm::Intrinsic::nvvm_redux_sync_umax;
    case Opcode::bit_and:
      return llvm::Intrinsic::nvvm_redux_sync_and;
    case Opcode::bit_or:
      return llvm::Intrinsic::nvvm_redux_sync_or;
    case Opcode::bit_xor:
      return llvm::Intrinsic::nvvm_redux_sync_xor;
    default:
      return std::nullopt;
  }
}

}  // namespace

void Emitter::emit_reduce(const Op& op) {
  const LayoutId working = plan_.working.at(&op);
  const ir::Shape& shape = type(op.operands[0]).shape;
  const LinearLayout from = layout(working);
  const LinearLayout to = from.with_bits(slice_bits(shape, static_cast<int>(op.index)));

  if (pending_.global_writes && pending_of(op.regions[0]).global_reads) barrier();
  std::vector<Registers> tiles;
  for (const ValueId operand : op.operands) tiles.push_back(registers(operand, working));
  reduce_registers(op, from, to, tiles);

  // A column of the old layout that is none of the new one moved along the axis.
  const auto reduced = [](const std::vector<std::uint32_t>& before,
                          const std::vector<std::uint32_t>& after) {
    std::uint32_t mask = 0;
    for (std::size_t bit = 0; bit < before.size(); ++bit) {
      if (before[bit] != 0 && after[bit] == 0) mask |= 1U << bit;
    }
    return mask;
  };
  reduce_lanes(op, reduced(from.lane_columns(), to.lane_columns()), tiles);
  const std::uint32_t warps = reduced(from.warp_columns(), to.warp_columns());
  if (warps != 0) reduce_warps(op, to, warps, tiles);

  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = op.results[i];
    if (single(result)) {
      set_scalar(result, tiles[i].at(0));
      continue;
    }
    LayoutId id = plan_.home(result);
    if (layout(id) != to) id = plan_.table.add(to);
    provide(result, id, std::move(tiles[i]));
  }
}

Emitter::Values Emitter::combine(const Op& op, const Values& left, const Values& right) {
  const Block& region = op.regions[0];
  const std::size_t count = left.size();
  for (std::size_t i = 0; i < count; ++i) {
    set_scalar(region.arguments[i], left[i]);
    set_scalar(region.arguments[count + i], right[i]);
  }
  const bool outer = in_reduction_;
  in_reduction_ = true;
  emit_block(region);
  in_reduction_ = outer;
  Values result;
  for (const ValueId value : region.ops.back().operands) result.push_back(scalar(value));
  return result;
}

void Emitter::reduce_registers(const Op& op, const LinearLayout& from, const LinearLayout& to,
                               std::vector<Registers>& tiles) {
  const std::vector<int> source =
      slice_bits(type(op.operands[0]).shape, static_cast<int>(op.index));
  std::vector<std::vector<Values>> parts(to.register_count());
  for (std::uint32_t reg = 0; reg < from.register_count(); ++reg) {
    const auto into = to.register_of(gather(from.element(reg, 0, 0), source));
    Values values;
    for (const Registers& tile : tiles) values.push_back(at(tile, reg));
    parts[into.value()].push_back(std::move(values));
  }
  std::vector<Registers> results(tiles.size());
  for (std::vector<Values>& list : parts) {
    // In pairs, so that half of the operations do not wait for one another.
    while (list.size() > 1) {
      std::vector<Values> halves;
      for (std::size_t i = 0; i < list.size(); i += 2) {
        halves.push_back(combine(op, list[i], list[i + 1]));
      }
      list = std::move(halves);
    }
    for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(list[0][i]);
  }
  tiles = std::move(results);
}

void Emitter::reduce_lanes(const Op& op, std::uint32_t lane_mask, std::vector<Registers>& tiles) {
  const auto operation = commuting_operation(op);
  const bool either_order = operation.has_value();
  constexpr std::uint32_t all_lanes = (1U << LinearLayout::lane_bits) - 1;
  if (operation && lane_mask == all_lanes && has(capability_, Family::warp_reduce)) {
    if (const auto id = warp_reduction(*operation, type(op.operands[0]).dtype)) {
      for (Value*& value : tiles[0]) {
        value = builder_.CreateIntrinsic(*id, {}, {value, builder_.getInt32(0xffffffff)});
      }
      return;
    }
  }
  for (int bit = 0; bit < LinearLayout::lane_bits; ++bit) {
    if ((lane_mask >> bit & 1U) == 0) continue;
    Value* upper = nullptr;
    if (!either_order) {
      upper = at_entry([&](Builder& builder) {
        return builder.CreateICmpNE(builder.CreateAnd(lane_, builder.getInt32(1U << bit)),
                                    builder.getInt32(0));
      });
    }
    for (std::size_t reg = 0; reg < tiles[0].size(); ++reg) {
      Values left;
      Values right;
      for (const Registers& tile : tiles) {
        Value* mine = tile[reg];
        Value* theirs = shuffle_butterfly(mine, bit);
        // Both lanes combine in one order and get the same bits, whatever the function.
        left.push_back(either_order ? mine : builder_.CreateSelect(upper, theirs, mine));
        right.push_back(either_order ? theirs : builder_.CreateSelect(upper, mine, theirs));
      }
      const Values both = combine(op, left, right);
      for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i][reg] = both[i];
    }
  }
}

void Emitter::reduce_warps(const Op& op, const LinearLayout& to, std::uint32_t warp_mask,
                           std::vector<Registers>& tiles) {
  const auto threads = static_cast<std::uint64_t>(32 * kernel_.options.num_warps);
  std::uint64_t bytes_each = 0;
  for (const ValueId operand : op.operands) {
    bytes_each += threads * static_cast<std::uint64_t>(memory_bytes(type(operand)));
  }
  const std::size_t count = tiles[0].size();
  const std::size_t piece = std::max<std::size_t>(
      1, std::min<std::size_t>(count, static_cast<std::size_t>(max_exchange_bytes / bytes_each)));

  // Lanes that know the same values can each read what another warp says, and then shuffle.
  const int warp_bits = std::popcount(warp_mask);
  const std::uint32_t idle_lanes = to.free_lanes();
  const bool by_lanes = std::popcount(idle_lanes) >= warp_bits;
  std::uint32_t used_lanes = 0;
  Value* asked = builder_.CreateAnd(warp_, builder_.getInt32(~warp_mask));
  if (by_lanes) {
    std::uint32_t lanes_left = idle_lanes;
    for (std::uint32_t rest = warp_mask; rest != 0; rest &= rest - 1) {
      const auto lane_bit = static_cast<std::uint64_t>(std::countr_zero(lanes_left));
      const auto warp_bit = static_cast<std::uint64_t>(std::countr_zero(rest));
      used_lanes |= 1U << lane_bit;
      lanes_left &= lanes_left - 1;
      Value* one = builder_.CreateAnd(builder_.CreateLShr(lane_, lane_bit), builder_.getInt32(1));
      asked = builder_.CreateOr(asked, builder_.CreateShl(one, warp_bit));
    }
  }

  std::vector<Registers> results(tiles.size());
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t size = std::min(piece, count - first);
    begin_shared(bytes_each * size);
    // Wider elements first, so that all are aligned.
    std::vector<std::uint64_t> offsets(tiles.size());
    std::uint64_t offset = 0;
    for (const int bytes : {8, 4, 2, 1}) {
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        if (memory_bytes(type(op.operands[i])) != bytes) continue;
        offsets[i] = offset;
        offset += threads * size * static_cast<std::uint64_t>(bytes);
      }
    }
    const auto address = [&](std::size_t i, std::size_t reg, Value* warp) {
      llvm::Type* element = memory_type(module_.getContext(), type(op.operands[i]));
      Value* slot = builder_.CreateOr(builder_.CreateShl(warp, 5), lane_);
      const std::uint64_t start =
          offsets[i] +
          reg * threads * static_cast<std::uint64_t>(memory_bytes(type(op.operands[i])));
      return shared_address(start, element, {slot, 0});
    };
    const auto align = [&](std::size_t i) {
      return llvm::Align(static_cast<std::uint64_t>(memory_bytes(type(op.operands[i]))));
    };
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      for (std::size_t reg = 0; reg < size; ++reg) {
        builder_.CreateAlignedStore(to_memory(builder_, tiles[i][first + reg]),
                                    address(i, reg, warp_), align(i));
      }
    }
    shared_written();
    const auto read = [&](std::size_t reg, Value* warp) {
      Values values;
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        llvm::Type* element = memory_type(module_.getContext(), type(op.operands[i]));
        Value* value = builder_.CreateAlignedLoad(element, address(i, reg, warp), align(i));
        values.push_back(from_memory(builder_, type(op.operands[i]), value));
      }
      return values;
    };
    for (std::size_t reg = 0; reg < size; ++reg) {
      Values total = read(reg, asked);
      // All subsets of the mask but the empty one, ascending.
      for (std::uint32_t other = (0 - warp_mask) & warp_mask; !by_lanes && other != 0;
           other = (other - warp_mask) & warp_mask) {
        total = combine(op, total, read(reg, builder_.CreateOr(asked, builder_.getInt32(other))));
      }
      for (std::size_t i = 0; i < tiles.size(); ++i) results[i].push_back(total[i]);
    }
  }
  tiles = std::move(results);
  if (by_lanes) reduce_lanes(op, used_lanes, tiles);
}

}  // namespace teeny::compiler::nvptx
