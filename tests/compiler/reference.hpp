#pragma once

// A plain interpreter of the tile IR: one program on host memory, one element at a time, as
// ir/op.hpp words it. Elements are computed by the constant folder; transcendental functions, which
// it leaves alone, in double precision and rounded once.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "compiler/passes/evaluate.hpp"

#include "teeny/ir/kernel.hpp"

namespace teeny::compiler::testing {

class Reference {
 public:
  using Bits = std::vector<std::uint64_t>;  ///< elements, row-major; pointers as addresses

  /// `seen` is told each value that a program computes, as often as it does.
  explicit Reference(const ir::Kernel& kernel,
                     std::function<void(ir::ValueId, const Reference&)> seen = {})
      : kernel_(kernel), seen_(std::move(seen)) {}

  /// The elements of a value as they are now.
  [[nodiscard]] const Bits& elements(ir::ValueId value) const { return values_.at(value); }

  /// `arguments[i]` points at parameter i's value, as for a CPU kernel.
  void run(const std::vector<const void*>& arguments, const std::array<std::uint32_t, 3>& position,
           const std::array<std::uint32_t, 3>& grid) {
    position_ = position;
    grid_ = grid;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ir::ValueId id = kernel_.body.arguments[i];
      const ir::Type& type = kernel_.type(id);
      values_[id] = {read(reinterpret_cast<std::uint64_t>(arguments[i]), type)};
    }
    run(kernel_.body);
  }

 private:
  using Op = ir::Op;
  using Opcode = ir::Opcode;

  static std::size_t bytes(const ir::Type& type) {
    return type.pointer ? 8 : static_cast<std::size_t>(size_of(type.dtype));
  }
  static std::uint64_t read(std::uint64_t address, const ir::Type& type) {
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), bytes(type));
    return !type.pointer && type.dtype == DType::boolean ? value != 0 : value;
  }
  static void write(std::uint64_t address, const ir::Type& type, std::uint64_t value) {
    std::memcpy(reinterpret_cast<void*>(address), &value, bytes(type));
  }
  static std::int64_t as_signed(DType dtype, std::uint64_t bits) {
    const int unused = 64 - bits_of(dtype);
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }

  /// Elements of a block's yield; empty for the kernel's body.
  std::vector<Bits> run(const ir::Block& block) {
    tell(block.arguments);
    for (const Op& op : block.ops) {
      if (op.code == Opcode::yield) return operands(op);
      run(op);
      tell(op.results);
    }
    return {};
  }

  void tell(const std::vector<ir::ValueId>& values) const {
    if (!seen_) return;
    for (const ir::ValueId value : values) seen_(value, *this);
  }

  std::vector<Bits> operands(const Op& op) const {
    std::vector<Bits> result;
    for (const ir::ValueId id : op.operands) result.push_back(values_.at(id));
    return result;
  }

  static std::uint64_t transcendental(const Op& op, DType dtype, std::uint64_t a, std::uint64_t b) {
    const double x = decode(dtype, a);
    const auto value = [&] {
      switch (op.code) {
        case Opcode::exp:
          return std::exp(x);
        case Opcode::exp2:
          return std::exp2(x);
        case Opcode::log:
          return std::log(x);
        case Opcode::log2:
          return std::log2(x);
        case Opcode::rsqrt:
          return 1 / std::sqrt(x);
        case Opcode::sin:
          return std::sin(x);
        case Opcode::cos:
          return std::cos(x);
        case Opcode::tanh:
          return std::tanh(x);
        case Opcode::sigmoid:
          return 1 / (1 + std::exp(-x));
        case Opcode::erf:
          return std::erf(x);
        case Opcode::rem:
          return std::fmod(x, decode(dtype, b));
        default:
          throw std::logic_error("no reference for " + std::string(ir::name(op.code)));
      }
    };
    return encode(dtype, value());
  }

  std::uint64_t element(const Op& op, const Bits& bits) const {
    const ir::Type& result = kernel_.type(op.results[0]);
    const std::size_t of = op.code == Opcode::select ? 1 : 0;
    const ir::Type& operand = kernel_.type(op.operands[of]);
    if (operand.pointer) return bits[0] != 0 ? bits[1] : bits[2];  // a select
    const auto value = evaluate(op, operand.dtype, result.dtype, bits);
    if (value) return *value;
    return transcendental(op, operand.dtype, bits[0], bits.size() > 1 ? bits[1] : 0);
  }

  void run(const Op& op) {
    if (op.code == Opcode::fold) return run_fold(op);
    const std::vector<Bits> in = operands(op);
    if (op.code == Opcode::if_) {
      const auto yields = run(op.regions[in[0][0] != 0 ? 0 : 1]);
      for (std::size_t k = 0; k < yields.size(); ++k) values_[op.results[k]] = yields[k];
      return;
    }
    if (op.code == Opcode::reduce) return run_reduce(op, in);
    if (op.code == Opcode::store || op.code == Opcode::store_view) return run_store(op, in);
    const ir::Type& type = kernel_.type(op.results[0]);
    Bits out(static_cast<std::size_t>(type.count()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = result_element(op, in, type, i);
    values_[op.results[0]] = std::move(out);
  }

  std::uint64_t result_element(const Op& op, const std::vector<Bits>& in, const ir::Type& type,
                               std::size_t i) {
    switch (op.code) {
      case Opcode::constant:
        return op.bits;
      case Opcode::program_id:
        return position_[static_cast<std::size_t>(op.index)];
      case Opcode::num_programs:
        return grid_[static_cast<std::size_t>(op.index)];
      case Opcode::arange:
        return static_cast<std::uint32_t>(op.index + static_cast<std::int64_t>(i));
      case Opcode::reshape:
        return in[0][i];
      case Opcode::broadcast:
      case Opcode::permute:
        return in[0][source(op, type.shape, i)];
      case Opcode::offset: {
        const DType index = kernel_.type(op.operands[1]).dtype;
        return in[0][i] +
               static_cast<std::uint64_t>(as_signed(index, in[1][i]) * size_of(type.dtype));
      }
      case Opcode::load:
        if (in.size() > 1 && in[1][i] == 0) return in.size() > 2 ? in[2][i] : 0;
        return read(in[0][i], type);
      case Opcode::load_view: {
        const auto address = view_address(op, in, type.shape, i, type.dtype);
        return address != 0 ? read(address, type) : op.bits;
      }
      case Opcode::dot:
        return dot_element(op, in, i);
      default: {
        Bits bits;
        for (const Bits& operand : in) bits.push_back(operand[i]);
        return element(op, bits);
      }
    }
  }

  std::size_t source(const Op& op, const ir::Shape& shape, std::size_t i) const {
    const ir::Shape& from = kernel_.type(op.operands[0]).shape;
    if (from.empty()) return 0;
    std::vector<std::int64_t> index(from.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[d]);
      const auto at = static_cast<std::int64_t>(i % extent);
      i /= extent;
      if (op.code == Opcode::permute) {
        index[static_cast<std::size_t>(op.dims[d])] = at;
      } else {
        index[d] = from[d] == 1 ? 0 : at;
      }
    }
    std::int64_t linear = 0;
    for (std::size_t d = 0; d < from.size(); ++d) linear = linear * from[d] + index[d];
    return static_cast<std::size_t>(linear);
  }

  /// 0 for what is out of bounds.
  static std::uint64_t view_address(const Op& op, const std::vector<Bits>& in,
                                    const ir::Shape& shape, std::size_t i, DType dtype) {
    const std::size_t rank = shape.size();
    static_cast<void>(op);
    std::int64_t linear = 0;
    for (std::size_t d = rank; d-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[d]);
      const auto at = static_cast<std::int64_t>(in[1 + 2 * rank + d][0] + i % extent);
      i /= extent;
      if (at < 0 || at >= static_cast<std::int64_t>(in[1 + d][0])) return 0;
      linear += at * static_cast<std::int64_t>(in[1 + rank + d][0]);
    }
    return in[0][0] + static_cast<std::uint64_t>(linear * size_of(dtype));
  }

  std::uint64_t dot_element(const Op& op, const std::vector<Bits>& in, std::size_t i) const {
    const ir::Type& left = kernel_.type(op.operands[0]);
    const DType sum_type = kernel_.type(op.results[0]).dtype;
    const auto depth = static_cast<std::size_t>(left.shape[1]);
    const auto columns = static_cast<std::size_t>(kernel_.type(op.operands[1]).shape[1]);
    const auto at = [&](std::size_t k) {
      return std::pair(in[0][i / columns * depth + k], in[1][k * columns + i % columns]);
    };
    if (sum_type == DType::i32) {
      std::uint64_t sum = in[2][i];
      for (std::size_t k = 0; k < depth; ++k) {
        const auto [a, b] = at(k);
        sum += static_cast<std::uint64_t>(as_signed(left.dtype, a) * as_signed(left.dtype, b));
      }
      return sum & 0xffffffff;
    }
    double sum = decode(sum_type, in[2][i]);
    for (std::size_t k = 0; k < depth; ++k) {
      const auto [a, b] = at(k);
      sum = std::fma(decode(left.dtype, a), decode(left.dtype, b), sum);
    }
    return encode(sum_type, sum);
  }

  void run_store(const Op& op, const std::vector<Bits>& in) const {
    const bool view = op.code == Opcode::store_view;
    const std::size_t value = view ? in.size() - 1 : 1;
    const ir::Type& type = kernel_.type(op.operands[value]);
    for (std::size_t i = 0; i < in[value].size(); ++i) {
      if (!view && in.size() > 2 && in[2][i] == 0) continue;
      const std::uint64_t address =
          view ? view_address(op, in, type.shape, i, type.dtype) : in[0][i];
      if (address != 0) write(address, type, in[value][i]);
    }
  }

  void run_reduce(const Op& op, const std::vector<Bits>& in) {
    const ir::Shape& shape = kernel_.type(op.operands[0]).shape;
    const auto axis = static_cast<std::size_t>(op.index);
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d)
      inner *= static_cast<std::size_t>(shape[d]);
    const auto extent = static_cast<std::size_t>(shape[axis]);
    const std::size_t count = in[0].size() / extent;
    std::vector<Bits> out(in.size(), Bits(count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i / inner * inner * extent + i % inner;
      std::vector<Bits> total;
      for (const Bits& operand : in) total.push_back({operand[first]});
      for (std::size_t r = 1; r < extent; ++r) {
        const ir::Block& region = op.regions[0];
        for (std::size_t k = 0; k < in.size(); ++k) {
          values_[region.arguments[k]] = total[k];
          values_[region.arguments[in.size() + k]] = {in[k][first + r * inner]};
        }
        total = run(region);
      }
      for (std::size_t k = 0; k < in.size(); ++k) out[k][i] = total[k][0];
    }
    for (std::size_t k = 0; k < in.size(); ++k) values_[op.results[k]] = out[k];
  }

  void run_fold(const Op& op) {
    std::vector<Bits> carried = operands(op);
    const DType dtype = kernel_.type(op.operands[0]).dtype;
    const std::uint64_t low = carried[0][0];
    const std::uint64_t high = carried[1][0];
    const std::uint64_t step = carried[2][0];
    carried.erase(carried.begin(), carried.begin() + 3);
    const bool any =
        is_signed_int(dtype) ? as_signed(dtype, low) < as_signed(dtype, high) : low < high;
    const std::uint64_t mask =
        bits_of(dtype) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(dtype)) - 1;
    const std::uint64_t rounds = any ? (((high - low) & mask) - 1) / step + 1 : 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const ir::Block& region = op.regions[0];
      values_[region.arguments[0]] = {(low + round * step) & mask};
      for (std::size_t k = 0; k < carried.size(); ++k) {
        values_[region.arguments[1 + k]] = carried[k];
      }
      carried = run(region);
    }
    for (std::size_t k = 0; k < carried.size(); ++k) values_[op.results[k]] = carried[k];
  }

  const ir::Kernel& kernel_;
  std::function<void(ir::ValueId, const Reference&)> seen_;
  std::array<std::uint32_t, 3> position_{};
  std::array<std::uint32_t, 3> grid_{};
  std::unordered_map<ir::ValueId, Bits> values_;
};

}  // namespace teeny::compiler::testing
