#include "compiler/layout/linear_layout.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace teeny::compiler {
namespace {

/// Position of the lowest bit of each dimension in the row-major index, and their number last.
std::vector<int> first_bits(const ir::Shape& shape) {
  const std::vector<int> bits = extent_bits(shape);
  std::vector<int> first(bits.size() + 1);
  int position = 0;
  for (std::size_t d = bits.size(); d-- > 0;) {
    first[d] = position;
    position += bits[d];
  }
  first.back() = position;
  return first;
}

std::vector<std::uint32_t> independent(std::vector<std::uint32_t> columns) {
  std::sort(columns.begin(), columns.end());
  const std::uint32_t dependent = BitMatrix(columns).dependent_bits();
  std::vector<std::uint32_t> kept;
  for (std::size_t bit = 0; bit < columns.size(); ++bit) {
    if ((dependent >> bit & 1U) == 0) kept.push_back(columns[bit]);
  }
  return kept;
}

}  // namespace

LinearLayout::LinearLayout(int element_bits, std::vector<std::uint32_t> registers,
                           std::vector<std::uint32_t> lanes, std::vector<std::uint32_t> warps)
    : element_bits_(element_bits),
      registers_(independent(std::move(registers))),
      lanes_(std::move(lanes)),
      warps_(std::move(warps)) {
  if (lanes_.size() > lane_bits) throw std::logic_error("a warp has 32 lanes");
  lanes_.resize(lane_bits);
  if (matrix().rank() != element_bits_) {
    throw std::logic_error("layout does not hold every element: " + to_string(*this));
  }
}

LinearLayout LinearLayout::blocked(const ir::Shape& shape, const std::vector<int>& order,
                                   int vector_bits, int warp_bits) {
  const std::vector<int> bits = extent_bits(shape);
  const std::vector<int> first = first_bits(shape);
  std::vector<std::uint32_t> columns;  // of all element bits, fastest first
  for (const int dim : order) {
    const auto d = static_cast<std::size_t>(dim);
    for (int bit = 0; bit < bits[d]; ++bit) columns.push_back(1U << (first[d] + bit));
  }
  auto next = columns.begin();
  const auto take = [&](int count) {
    const auto begin = next;
    next += std::min<std::ptrdiff_t>(count, columns.end() - next);
    std::vector<std::uint32_t> taken(begin, next);
    taken.resize(static_cast<std::size_t>(count));
    return taken;
  };
  std::vector<std::uint32_t> registers = take(vector_bits);
  std::vector<std::uint32_t> lanes = take(lane_bits);
  std::vector<std::uint32_t> warps = take(warp_bits);
  registers.insert(registers.end(), next, columns.end());
  return LinearLayout(first.back(), std::move(registers), std::move(lanes), std::move(warps));
}

LinearLayout LinearLayout::flat(const ir::Shape& shape, int warp_bits) {
  std::vector<int> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return blocked(shape, order, 0, warp_bits);
}

std::uint32_t LinearLayout::element(std::uint32_t reg, std::uint32_t lane,
                                    std::uint32_t warp) const noexcept {
  std::uint32_t result = 0;
  const auto add = [&result](const std::vector<std::uint32_t>& columns, std::uint32_t index) {
    for (std::size_t bit = 0; bit < columns.size(); ++bit) {
      if ((index >> bit & 1U) != 0) result ^= columns[bit];
    }
  };
  add(registers_, reg);
  add(lanes_, lane);
  add(warps_, warp);
  return result;
}

std::optional<std::uint32_t> LinearLayout::register_of(std::uint32_t element) const {
  return BitSolver(BitMatrix(registers_)).solve(element);
}

BitMatrix LinearLayout::matrix() const {
  std::vector<std::uint32_t> columns = registers_;
  columns.insert(columns.end(), lanes_.begin(), lanes_.end());
  columns.insert(columns.end(), warps_.begin(), warps_.end());
  return BitMatrix(std::move(columns));
}

std::uint32_t LinearLayout::free_lanes() const {
  return matrix().dependent_bits() >> register_bits() & ((1U << lane_bits) - 1);
}

std::uint32_t LinearLayout::free_warps() const {
  return matrix().dependent_bits() >> (register_bits() + lane_bits);
}

bool LinearLayout::is_one_to_one() const { return matrix().dependent_bits() == 0; }

LinearLayout LinearLayout::with_bits(const std::vector<int>& source) const {
  const auto moved = [&source](const std::vector<std::uint32_t>& columns) {
    std::vector<std::uint32_t> result;
    result.reserve(columns.size());
    for (const std::uint32_t column : columns) result.push_back(gather(column, source));
    return result;
  };
  return LinearLayout(static_cast<int>(source.size()), moved(registers_), moved(lanes_),
                      moved(warps_));
}

std::vector<int> extent_bits(const ir::Shape& shape) {
  std::vector<int> bits;
  bits.reserve(shape.size());
  for (const std::int64_t extent : shape) {
    const auto value = static_cast<std::uint64_t>(extent);
    if (!std::has_single_bit(value)) {
      throw std::logic_error("an extent is no power of two: " + ir::to_string(shape));
    }
    bits.push_back(std::countr_zero(value));
  }
  return bits;
}

std::uint32_t gather(std::uint32_t index, const std::vector<int>& source) noexcept {
  std::uint32_t result = 0;
  for (std::size_t bit = 0; bit < source.size(); ++bit) {
    result |= (index >> source[bit] & 1U) << bit;
  }
  return result;
}

std::vector<int> broadcast_bits(const ir::Shape& from, const ir::Shape& to) {
  const std::vector<int> bits = extent_bits(from);
  const std::vector<int> first = first_bits(to);
  std::vector<int> source;
  for (std::size_t d = from.size(); d-- > 0;) {
    for (int bit = 0; bit < bits[d]; ++bit) source.push_back(first[d] + bit);
  }
  return source;
}

std::vector<int> permute_bits(const ir::Shape& from, const std::vector<int>& dims) {
  const std::vector<int> bits = extent_bits(from);
  const std::vector<int> first = first_bits(from);
  std::vector<int> source;
  for (std::size_t d = dims.size(); d-- > 0;) {
    const auto old = static_cast<std::size_t>(dims[d]);
    for (int bit = 0; bit < bits[old]; ++bit) source.push_back(first[old] + bit);
  }
  return source;
}

std::vector<int> inverse_bits(const std::vector<int>& source) {
  std::vector<int> inverse(source.size());
  for (std::size_t bit = 0; bit < source.size(); ++bit) {
    inverse[static_cast<std::size_t>(source[bit])] = static_cast<int>(bit);
  }
  return inverse;
}

std::vector<int> slice_bits(const ir::Shape& from, int axis) {
  const std::vector<int> bits = extent_bits(from);
  const std::vector<int> first = first_bits(from);
  std::vector<int> source;
  for (std::size_t d = from.size(); d-- > 0;) {
    if (static_cast<int>(d) == axis) continue;
    for (int bit = 0; bit < bits[d]; ++bit) source.push_back(first[d] + bit);
  }
  return source;
}

std::string to_string(const LinearLayout& layout) {
  std::string text;
  const auto list = [&text](const char* name, const std::vector<std::uint32_t>& columns) {
    if (!text.empty()) text += ", ";
    text += name;
    for (const std::uint32_t column : columns) {
      text += ' ';
      text += std::to_string(column);
    }
  };
  list("registers", layout.register_columns());
  list("lanes", layout.lane_columns());
  list("warps", layout.warp_columns());
  return text;
}

}  // namespace teeny::compiler
