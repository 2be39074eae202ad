#include <bit>
#include <optional>

#include "compiler/nvptx/emitter.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Op;
using ir::Opcode;
using ir::ValueId;

llvm::Value* Emitter::scalar(ValueId value) const { return values_[value].at(0).at(0); }

void Emitter::set_scalar(ValueId value, Value* to) { values_[value] = {{to}}; }

const Emitter::Registers& Emitter::registers(ValueId value, LayoutId layout) const {
  if (single(value)) return values_[value].at(0);
  const auto& wanted = plan_.layouts[value];
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == layout) return values_[value].at(i);
  }
  throw Error(ErrorKind::internal,
              "kernel " + kernel_.name + ": a value is missing in a layout that was not planned",
              "this is a bug in teeny: please report it with the kernel's IR");
}

void Emitter::provide(ValueId value, LayoutId layout, Registers registers) {
  if (single(value)) return set_scalar(value, registers.at(0));
  const auto& wanted = plan_.layouts[value];
  std::vector<Registers> all;
  all.reserve(wanted.size());
  for (const LayoutId id : wanted) {
    all.push_back(id == layout ? registers : convert(type(value), registers, layout, id));
  }
  values_[value] = std::move(all);
}

void Emitter::emit_pointwise(const Op& op) {
  const ValueId result = op.results[0];
  const auto compute = [&](LayoutId id) {
    switch (op.code) {
      case Opcode::constant:
        return Registers(layout(id).register_count(),
                         constant(module_.getContext(), type(result).dtype, op.bits));
      case Opcode::arange:
        return arange(op, id);
      case Opcode::reshape:
        return registers(op.operands[0], id);
      case Opcode::broadcast:
      case Opcode::permute:
        return moved(op, id);
      default:
        return pointwise(op, id);
    }
  };
  if (single(result)) {
    // One element has one layout, of no columns, whatever its shape.
    if (op.code == Opcode::arange) {
      return set_scalar(result, builder_.getInt32(static_cast<std::uint32_t>(op.index)));
    }
    if (op.code == Opcode::reshape || op.code == Opcode::broadcast || op.code == Opcode::permute) {
      return set_scalar(result, scalar(op.operands[0]));
    }
    Values operands;
    for (const ValueId operand : op.operands) operands.push_back(scalar(operand));
    return set_scalar(result, ops_.emit(op, type(op.operands.at(0)), type(result), operands));
  }
  if (plan_.derived[result]) {
    std::vector<Registers> all;
    for (const LayoutId id : plan_.layouts[result]) all.push_back(compute(id));
    values_[result] = std::move(all);
    return;
  }
  const LayoutId home = plan_.home(result);
  provide(result, home, compute(home));
}

Emitter::Registers Emitter::pointwise(const Op& op, LayoutId id) {
  std::vector<const Registers*> operands;
  for (const ValueId operand : op.operands) operands.push_back(&registers(operand, id));
  const std::uint32_t count = layout(id).register_count();
  Registers result(count);
  Values values(operands.size());
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    for (std::size_t i = 0; i < operands.size(); ++i) values[i] = at(*operands[i], reg);
    // Rows and columns that were broadcast repeat themselves: what an earlier register had computed
    // from the same values is taken, before LLVM has to find that out.
    for (std::uint32_t rest = reg; rest != 0 && result[reg] == nullptr; rest &= rest - 1) {
      const std::uint32_t earlier = reg ^ (rest & (~rest + 1));
      bool same = true;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        same = same && values[i] == at(*operands[i], earlier);
      }
      if (same) result[reg] = result[earlier];
    }
    if (result[reg] == nullptr) {
      result[reg] = ops_.emit(op, type(op.operands[0]), type(op.results[0]), values);
    }
  }
  return result;
}

Emitter::Registers Emitter::moved(const Op& op, LayoutId id) {
  const ValueId operand = op.operands[0];
  const LinearLayout& to = layout(id);
  if (single(operand)) return Registers(to.register_count(), scalar(operand));
  const ir::Shape& from = type(operand).shape;
  const std::vector<int> source = op.code == Opcode::broadcast
                                      ? broadcast_bits(from, type(op.results[0]).shape)
                                      : inverse_bits(permute_bits(from, op.dims));
  const LinearLayout old = to.with_bits(source);
  // The plan asked for the operand in just this layout.
  const Registers* have = nullptr;
  const auto& wanted = plan_.layouts[operand];
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (layout(wanted[i]) == old) have = &values_[operand].at(i);
  }
  Registers result;
  for (std::uint32_t reg = 0; reg < to.register_count(); ++reg) {
    const auto place = old.register_of(gather(to.element(reg, 0, 0), source));
    result.push_back(have->at(place.value()));
  }
  return result;
}

Emitter::Registers Emitter::arange(const Op& op, LayoutId id) {
  const LinearLayout& to = layout(id);
  Value* start = builder_.getInt32(static_cast<std::uint32_t>(op.index));
  Registers result;
  for (std::uint32_t reg = 0; reg < to.register_count(); ++reg) {
    const Index index = place(to, nullptr, to.element(reg, 0, 0));
    Value* element =
        builder_.CreateAdd(index.computed, builder_.getInt32(index.known), "", true, true);
    result.push_back(op.index == 0 ? element : builder_.CreateAdd(element, start));
  }
  return result;
}

llvm::Value* Emitter::thread_part(const LinearLayout& layout, const BitMatrix* map) {
  std::vector<std::uint32_t> columns = layout.lane_columns();
  columns.insert(columns.end(), layout.warp_columns().begin(), layout.warp_columns().end());
  if (map != nullptr) {
    for (std::uint32_t& column : columns) column = map->apply(column);
  }
  const auto known = thread_parts_.find(columns);
  if (known != thread_parts_.end()) return known->second;
  Value* result = at_entry([&](Builder& builder) {
    // Bits of the thread that move together are moved together.
    Value* sum = nullptr;
    const int count = static_cast<int>(columns.size());
    std::uint32_t used = 0;
    const auto add = [&](Value* part, std::uint32_t bits) {
      if (sum == nullptr) {
        sum = part;
      } else {
        sum = (used & bits) == 0 ? builder.CreateOr(sum, part) : builder.CreateXor(sum, part);
      }
      used |= bits;
    };
    for (int first = 0; first < count;) {
      const std::uint32_t column = columns[static_cast<std::size_t>(first)];
      int last = first + 1;
      if (column == 0) {
        first = last;
        continue;
      }
      std::uint32_t bits = column;
      while (last < count && std::has_single_bit(column) &&
             columns[static_cast<std::size_t>(last)] == column << (last - first)) {
        bits |= columns[static_cast<std::size_t>(last++)];
      }
      Value* part = builder.CreateLShr(thread_, static_cast<std::uint64_t>(first));
      part = builder.CreateAnd(part, (1U << (last - first)) - 1);
      if (std::has_single_bit(column)) {
        part = builder.CreateShl(part, static_cast<std::uint64_t>(std::countr_zero(column)), "",
                                 true, true);
      } else {
        part = builder.CreateAnd(builder.CreateNeg(part), column);
      }
      add(part, bits);
      first = last;
    }
    return sum == nullptr ? builder.getInt32(0) : sum;
  });
  thread_parts_[columns] = result;
  return result;
}

Emitter::Index Emitter::place(const LinearLayout& layout, const BitMatrix* map,
                              std::uint32_t element) {
  const std::uint32_t offset = map == nullptr ? element : map->apply(element);
  Value* base = thread_part(layout, map);
  std::uint32_t used = 0;
  for (const auto* columns : {&layout.lane_columns(), &layout.warp_columns()}) {
    for (const std::uint32_t column : *columns) {
      used |= map == nullptr ? column : map->apply(column);
    }
  }
  // Where they have no bit in common, the exclusive or is the sum.
  const std::uint32_t common = used & offset;
  if (common == 0) return {base, offset};
  return {builder_.CreateXor(base, builder_.getInt32(common)), offset & ~common};
}

}  // namespace teeny::compiler::nvptx
