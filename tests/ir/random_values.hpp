#pragma once

// What random_kernel.hpp draws from: chance, a pool of values with bounds, and memory.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "teeny/ir/builder.hpp"

namespace teeny::ir {

/// Elements of every buffer that a random kernel is given. Input buffers hold anything for integers
/// and bool (0 or 1), and -2 to 2 for floats; output buffers hold anything, zeros say.
inline constexpr std::int64_t random_kernel_elements = 4096;

/// A part of an output buffer that a random kernel writes, fully or in parts.
struct RandomOutput {
  std::size_t parameter = 0;  ///< its index
  DType dtype = DType::f32;
  std::int64_t first = 0;  ///< element
  std::int64_t count = 0;
  double tolerance = 0;  ///< bound of |found - exact|; 0: bit for bit, but for the sign of zero
};

/// Parameter 2 d reads and parameter 2 d + 1 writes a buffer of all_dtypes[d]; then an i32 and an
/// f32 (-2 to 2) by value. For a grid of one program.
struct RandomKernel {
  Kernel kernel;
  std::vector<RandomOutput> outputs;
};

struct RandomKernelOptions {
  int steps = 24;      ///< how much it does, roughly; an operation or a handful each
  bool reload = true;  ///< reads back what it has stored before
};

/// Builds one kernel. Every choice is made in a statement of its own, since C++ leaves the order of
/// arguments open: the same seed gives the same kernel on every compiler.
class RandomValues {
 protected:
  RandomValues(std::uint32_t seed, RandomKernelOptions options)
      : random_(seed),
        options_(options),
        builder_("random_" + std::to_string(seed), parameter_types(), kernel_options()) {
    add({builder_.parameter(2 * dtype_count), Type::scalar(DType::i32)});
    add({builder_.parameter(2 * dtype_count + 1), Type::scalar(DType::f32), 2.0});
  }

  static constexpr std::size_t dtype_count = std::size(all_dtypes);
  static constexpr double too_large = 16;

  /// A value with what is known of it; bounds are for floats only.
  struct Value {
    ValueId id = no_value;
    Type type = {};
    double bound = 0;  ///< |x| is at most this
    double error = 0;  ///< |x - exact| is at most this; 0: the same on every backend
  };
  using Values = std::vector<ValueId>;

  // --- chance ---

  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  DType any_dtype() { return all_dtypes[below(dtype_count)]; }
  DType any_int() { return all_dtypes[1 + below(8)]; }
  DType any_float() { return all_dtypes[9 + below(4)]; }
  Shape any_shape() {
    static const std::vector<Shape> shapes = {{},     {},      {4},    {16},     {64},      {128},
                                              {8, 4}, {4, 16}, {1, 8}, {16, 16}, {2, 4, 8}, {1}};
    return one_of(shapes);
  }

  static std::vector<Type> parameter_types() {
    std::vector<Type> types;
    for (const DType dtype : all_dtypes) {
      types.push_back(Type::pointer_to(dtype, true));
      types.push_back(Type::pointer_to(dtype, false));
    }
    types.push_back(Type::scalar(DType::i32));
    types.push_back(Type::scalar(DType::f32));
    return types;
  }
  KernelOptions kernel_options() {
    static const std::vector<int> warps = {1, 2, 4, 8};
    KernelOptions options;
    options.num_warps = one_of(warps);
    options.num_stages = 1 + static_cast<int>(below(3));
    return options;
  }

  // --- the pool of values in sight ---

  void add(Value value) {
    if (!is_float(value.type.dtype)) value.bound = value.error = 0;
    if (value.bound > too_large) value = clamped(value, 4.0);
    pool_.push_back(std::move(value));
  }
  void add(ValueId id, double bound, double error) { add({id, builder_.type(id), bound, error}); }
  void add_exact(ValueId id) { add(id, 0, 0); }

  static double epsilon(DType dtype) {
    switch (dtype) {
      case DType::f16:
        return std::ldexp(1.0, -11);
      case DType::bf16:
        return std::ldexp(1.0, -8);
      case DType::f32:
        return std::ldexp(1.0, -24);
      default:
        return std::ldexp(1.0, -53);
    }
  }
  /// What rounding a result of this size may cost, tiny f16 included.
  static double rounding(DType dtype, double bound) {
    return 2 * epsilon(dtype) * bound + (dtype == DType::f16 ? std::ldexp(1.0, -24) : 1e-37);
  }
  /// The error of a correctly rounded operation whose operands carry `from_operands` into it.
  static double rounded(DType dtype, double bound, double from_operands) {
    return from_operands == 0 ? 0 : from_operands + rounding(dtype, bound);
  }

  Value clamped(const Value& value, double bound) {
    const Shape& shape = value.type.shape;
    const DType dtype = value.type.dtype;
    ValueId id = builder_.binary(Opcode::minimum, value.id, number(dtype, shape, bound));
    id = builder_.binary(Opcode::maximum, id, number(dtype, shape, -bound));
    return {id, value.type, bound, value.error};
  }

  ValueId number(DType dtype, const Shape& shape, double value) {
    return builder_.constant(Type::tile(dtype, shape), encode(dtype, value));
  }
  ValueId integer(DType dtype, std::int64_t value) {
    return builder_.constant(Type::scalar(dtype), encode(dtype, value));
  }

  /// A value of this type from the pool, or a new one.
  Value get(DType dtype, const Shape& shape, bool exact = false) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      const Value& value = pool_[i];
      if (!value.type.pointer && value.type.dtype == dtype && value.type.shape == shape &&
          (!exact || value.error == 0)) {
        fitting.push_back(i);
      }
    }
    if (!fitting.empty() && chance(80)) {
      // The newest are the likeliest: chains grow long, and few values are dead.
      const std::size_t newest = fitting.size() - 1;
      return pool_[fitting[newest - std::min(below(fitting.size()), below(fitting.size()))]];
    }
    return fresh(dtype, shape);
  }

  Value any(DType dtype, bool exact = false) {
    const Shape shape = any_shape();
    return get(dtype, shape, exact);
  }

  /// A new value of this type, exact always.
  Value fresh(DType dtype, const Shape& shape) {
    Value value;
    value.type = Type::tile(dtype, shape);
    value.bound = 2;
    switch (below(4)) {
      case 0: {
        const std::uint64_t bits =
            is_float(dtype) ? encode(dtype, (static_cast<double>(below(65)) - 32) / 16)
                            : encode(dtype, static_cast<std::uint64_t>(random_()) << below(34));
        value.id = builder_.constant(value.type, bits);
        break;
      }
      case 1:
        if (!shape.empty()) {
          value.id = builder_.broadcast(fresh(dtype, {}).id, shape);
          break;
        }
        [[fallthrough]];
      default:
        value.id = load(dtype, shape);
        break;
    }
    pool_.push_back(value);
    return value;
  }

  ValueId condition(const Shape& shape) { return get(DType::boolean, shape).id; }

  // --- memory ---

  ValueId input(DType dtype) { return builder_.parameter(2 * index_of(dtype)); }
  ValueId output(DType dtype) { return builder_.parameter(2 * index_of(dtype) + 1); }
  static std::size_t index_of(DType dtype) { return static_cast<std::size_t>(dtype); }

  /// 0, 1, 2, ... in row-major order, of this shape.
  ValueId row_major(const Shape& shape) {
    const std::int64_t count = element_count(shape);
    if (shape.empty()) return integer(DType::i32, 0);
    const ValueId flat = builder_.arange(0, count);
    return shape.size() == 1 ? flat : builder_.reshape(flat, shape);
  }

  ValueId spread(ValueId scalar, const Shape& shape) {
    return shape.empty() ? scalar : builder_.broadcast(scalar, shape);
  }

  ValueId pointers(ValueId base, const Shape& shape, ValueId index) {
    if (chance(30)) index = builder_.cast(index, DType::i64);
    return builder_.offset(spread(base, shape), index);
  }

  ValueId load(DType dtype, const Shape& shape) {
    ValueId index = no_value;
    if (chance(25)) {  // a gather: any integers, brought into range
      const ValueId limit = builder_.constant(
          Type::tile(DType::i32, shape), static_cast<std::uint64_t>(random_kernel_elements - 1));
      index = builder_.binary(Opcode::bit_and, get_pooled_i32(shape), limit);
    } else {
      const auto start = static_cast<std::int64_t>(below(256));
      const ValueId first = spread(integer(DType::i32, start), shape);
      index = builder_.binary(Opcode::add, row_major(shape), first);
    }
    const ValueId from = pointers(input(dtype), shape, index);
    const Cache cache = chance(20) ? Cache::streaming : Cache::automatic;
    if (!chance(40)) return builder_.load(from, no_value, no_value, cache);
    const ValueId mask =
        builder_.compare(Predicate::lt, index, spread(builder_.parameter(2 * dtype_count), shape));
    if (chance(50)) return builder_.load(from, mask, no_value, cache);
    const ValueId other =
        builder_.constant(Type::tile(dtype, shape), encode(dtype, std::int64_t{1}));
    return builder_.load(from, mask, other, cache);
  }

  ValueId get_pooled_i32(const Shape& shape) {
    for (std::size_t i = pool_.size(); i-- > 0;) {
      if (pool_[i].type == Type::tile(DType::i32, shape)) return pool_[i].id;
    }
    return row_major(shape);
  }

  struct View {
    Values extents, strides, offsets;
  };
  /// A view of at most 40 elements along each extent, with offsets before and behind its ends.
  View view(std::size_t rank) {
    View view;
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t extent = rank > 2 ? 8 : 8 + static_cast<std::int64_t>(below(33));
      const std::int64_t start = static_cast<std::int64_t>(below(12)) - 4;
      view.extents.push_back(integer(DType::i64, extent));
      view.strides.push_back(integer(DType::i64, stride));
      view.offsets.push_back(integer(DType::i64, start));
      stride *= rank > 2 ? 8 : 48;
    }
    if (chance(70)) {  // the last extent is the densest
      std::reverse(view.strides.begin(), view.strides.end());
    }
    return view;
  }

  void load_view() {
    Shape shape = any_shape();
    if (shape.empty()) shape = {32};
    const DType dtype = any_dtype();
    const View v = view(shape.size());
    const std::uint64_t padding =
        is_float(dtype) ? encode(dtype, -0.5) : encode(dtype, std::int64_t{1});
    add(builder_.load_view(input(dtype), v.extents, v.strides, v.offsets, shape, padding), 2, 0);
  }

  /// Reserves `count` elements of this dtype's output buffer; nullopt when it is full.
  std::optional<std::int64_t> reserve(DType dtype, std::int64_t count, double tolerance) {
    std::int64_t& next = next_slot_[index_of(dtype)];
    if (next + count > random_kernel_elements) return std::nullopt;
    outputs_.push_back({2 * index_of(dtype) + 1, dtype, next, count, tolerance});
    next += count;
    return outputs_.back().first;
  }

  /// Stores one of the newest values, or one of `among` newest.
  void store_something(int depth, std::size_t among = 8) {
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (!pool_[i].type.pointer) elements.push_back(i);
    }
    const std::size_t back = 1 + below(std::min(among, elements.size()));
    const Value value = pool_[elements[elements.size() - back]];
    store(value, depth);
  }

  void store(const Value& value, int depth) {
    const Shape& shape = value.type.shape;
    const DType dtype = value.type.dtype;
    const auto first = reserve(dtype, value.type.count(), value.error);
    if (!first) return;
    const ValueId base = builder_.offset(output(dtype), integer(DType::i32, *first));
    if (!shape.empty() && chance(40)) {
      // Extents at most those of the tile: the rest is clipped.
      View v;
      std::int64_t stride = value.type.count();
      for (const std::int64_t extent : shape) {
        stride /= extent;
        v.extents.push_back(
            integer(DType::i64, std::max<std::int64_t>(1, extent - (chance(30) ? 1 : 0))));
        v.strides.push_back(integer(DType::i64, stride));
        v.offsets.push_back(integer(DType::i64, 0));
      }
      builder_.store_view(base, v.extents, v.strides, v.offsets, value.id);
      return;
    }
    const ValueId to = pointers(base, shape, row_major(shape));
    const bool masked = chance(30);
    const ValueId mask = masked ? condition(shape) : no_value;
    builder_.store(to, value.id, mask, chance(20) ? Cache::streaming : Cache::automatic);
    // Inside a region the store may not have happened yet when the value is used, so only outside.
    if (options_.reload && depth == 0 && !masked && chance(30)) {
      add(builder_.load(to), value.bound, value.error);
    }
  }

  std::mt19937 random_;
  RandomKernelOptions options_;
  Builder builder_;
  std::vector<Value> pool_;
  std::vector<RandomOutput> outputs_;
  std::array<std::int64_t, dtype_count> next_slot_ = {};
};

}  // namespace teeny::ir
