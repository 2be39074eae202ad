#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ir/rules.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/builder.hpp"

namespace teeny::ir {

namespace {

bool is_number(DType dtype) { return is_int(dtype) || is_float(dtype); }

/// Checks one operation against the rules of its opcode.
class Typing {
 public:
  Typing(const Kernel& kernel, const Op& op, const Type* given)
      : kernel_(kernel), op_(op), given_(given) {}

  std::vector<Type> results() {
    check_form();
    if (rules(op_.code).stated_type) {
      require(given_ != nullptr, "the result type has to be stated");
      const std::string rule = broken_rule(*given_);
      require(rule.empty(), "result type: " + rule);
    }
    switch (op_.code) {
      case Opcode::constant:
        return constant();
      case Opcode::program_id:
      case Opcode::num_programs:
        return grid();
      case Opcode::arange:
        return arange();
      case Opcode::cast:
      case Opcode::bitcast:
        return conversion();
      case Opcode::reshape:
        return reshape();
      case Opcode::broadcast:
        return broadcast();
      case Opcode::permute:
        return permute();
      case Opcode::select:
        return select();
      case Opcode::compare:
        return compare();
      case Opcode::offset:
        return offset();
      case Opcode::load:
        return load();
      case Opcode::store:
        return store();
      case Opcode::load_view:
        return load_view();
      case Opcode::store_view:
        return store_view();
      case Opcode::dot:
        return dot();
      case Opcode::reduce:
        return reduce();
      case Opcode::fold:
        return fold();
      case Opcode::if_:
        return if_();
      case Opcode::yield:
        return {};
      default:
        return arithmetic();
    }
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw Error(ErrorKind::input, std::string(name(op_.code)) + ": " + rule);
  }
  void require(bool holds, const std::string& rule) const {
    if (!holds) fail(rule);
  }
  [[nodiscard]] const Type& operand(std::size_t i) const { return kernel_.values[op_.operands[i]]; }
  [[nodiscard]] std::string text(std::size_t i) const { return to_string(operand(i)); }

  void require_same(std::size_t i, const Type& wanted, const std::string& what) const {
    require(operand(i) == wanted, what + ": wanted " + to_string(wanted) + ", found " + text(i));
  }
  void require_elements(std::size_t i) const {
    require(!operand(i).pointer, "wanted elements, found pointers: " + text(i));
  }
  void require_kind(std::size_t i, bool holds, const std::string& wanted) const {
    require_elements(i);
    require(holds, "wanted " + wanted + ", found " + text(i));
  }

  // What holds of any operation of this opcode, whatever its types.
  void check_form() const {
    const OpcodeRules& rule = rules(op_.code);
    const std::size_t count = op_.operands.size();
    if (count < rule.min_operands || count > rule.max_operands) {
      const bool open_ended = rule.max_operands == std::numeric_limits<std::size_t>::max();
      fail("wanted " + std::to_string(rule.min_operands) +
           (rule.max_operands == rule.min_operands ? ""
            : open_ended                           ? " or more"
                                                   : " to " + std::to_string(rule.max_operands)) +
           " operands, found " + std::to_string(count));
    }
    for (const ValueId id : op_.operands) {
      require(id < kernel_.values.size(), "an operand is no value of this kernel");
    }
    require(op_.regions.size() == rule.regions, "wanted " + std::to_string(rule.regions) +
                                                    " regions, found " +
                                                    std::to_string(op_.regions.size()));
    const unsigned has = rule.attributes;
    const auto unused = [&](Attribute attribute, bool is_default, const char* what) {
      require((has & attribute) != 0 || is_default, std::string("has no attribute ") + what);
    };
    unused(attribute_bits, op_.bits == 0, "bits");
    unused(attribute_index, op_.index == 0, "index");
    unused(attribute_dims, op_.dims.empty(), "dims");
    unused(attribute_predicate, op_.predicate == Predicate::eq, "predicate");
    unused(attribute_cache, op_.cache == Cache::automatic, "cache");
    unused(attribute_precision, op_.precision == Precision::ieee, "precision");
  }

  void require_bits_fit(DType dtype) const {
    const int width = bits_of(dtype);
    require(width == 64 || (op_.bits >> width) == 0,
            "bits above the " + std::to_string(width) + " of " + std::string(name(dtype)));
  }

  std::vector<Type> constant() const {
    require(!given_->pointer, "wanted elements, found pointers: " + to_string(*given_));
    require_bits_fit(given_->dtype);
    return {*given_};
  }

  std::vector<Type> grid() const {
    require(op_.index >= 0 && op_.index <= 2,
            "wanted a grid axis of 0 to 2, found " + std::to_string(op_.index));
    return {Type::scalar(DType::i32)};
  }

  std::vector<Type> arange() const {
    require(given_->rank() == 1 && *given_ == Type::tile(DType::i32, given_->shape),
            "wanted an i32 tile of rank 1, found " + to_string(*given_));
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    require(op_.index >= lowest && op_.index <= highest - (given_->count() - 1),
            "a start of " + std::to_string(op_.index) + " and " + std::to_string(given_->count()) +
                " elements leave the range of i32");
    return {*given_};
  }

  std::vector<Type> conversion() const {
    require_elements(0);
    require(
        !given_->pointer && given_->shape == operand(0).shape,
        "wanted a result of the operand's shape, found " + text(0) + " to " + to_string(*given_));
    if (op_.code == Opcode::bitcast) {
      require(bits_of(given_->dtype) == bits_of(operand(0).dtype),
              "wanted elements of one width, found " + text(0) + " to " + to_string(*given_));
    }
    return {*given_};
  }

  std::vector<Type> arithmetic() const {
    const DType dtype = operand(0).dtype;
    const bool integer = is_int(dtype);
    switch (op_.code) {
      case Opcode::neg:
      case Opcode::abs:
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul:
      case Opcode::div:
      case Opcode::rem:
      case Opcode::minimum:
      case Opcode::maximum:
        require_kind(0, is_number(dtype), "integers or floats");
        break;
      case Opcode::bit_not:
      case Opcode::bit_and:
      case Opcode::bit_or:
      case Opcode::bit_xor:
        require_kind(0, integer || dtype == DType::boolean, "integers or bool");
        break;
      case Opcode::shl:
      case Opcode::shr:
        require_kind(0, integer, "integers");
        break;
      case Opcode::umulhi:
        require_kind(0, dtype == DType::u32 || dtype == DType::u64, "u32 or u64");
        break;
      default:
        require_kind(0, is_float(dtype), "floats");
        break;  // exp to round, and fma
    }
    for (std::size_t i = 1; i < op_.operands.size(); ++i) {
      require_same(i, operand(0), "operands must be of one type");
    }
    return {operand(0)};
  }

  std::vector<Type> compare() const {
    require_elements(0);
    require_same(1, operand(0), "operands must be of one type");
    return {operand(0).with_dtype(DType::boolean)};
  }

  std::vector<Type> select() const {
    require_same(0, operand(1).with_dtype(DType::boolean), "the condition");
    require_same(2, operand(1), "both choices must be of one type");
    return {operand(1)};
  }

  std::vector<Type> reshape() const {
    require(
        *given_ == operand(0).with_shape(given_->shape) && given_->count() == operand(0).count(),
        "wanted as many of the same elements, found " + text(0) + " to " + to_string(*given_));
    return {*given_};
  }

  std::vector<Type> broadcast() const {
    const Type& from = operand(0);
    bool fits = *given_ == from.with_shape(given_->shape);
    if (!from.is_scalar()) {
      fits = fits && from.rank() == given_->rank();
      for (std::size_t d = 0; fits && d < from.shape.size(); ++d) {
        fits = from.shape[d] == 1 || from.shape[d] == given_->shape[d];
      }
    }
    require(fits, text(0) + " does not broadcast to " + to_string(*given_) +
                      ": wanted the same elements, and a scalar or the same rank with extents that "
                      "are equal or 1");
    return {*given_};
  }

  std::vector<Type> permute() const {
    const Type& from = operand(0);
    const std::size_t rank = from.shape.size();
    require(op_.dims.size() == rank,
            "wanted " + std::to_string(rank) + " dims, found " + std::to_string(op_.dims.size()));
    std::vector<bool> seen(rank, false);
    Shape shape;
    for (const int dim : op_.dims) {
      const auto d = static_cast<std::size_t>(dim);  // a negative one becomes too large
      require(d < rank && !seen[d], "dims are not a permutation of 0 to rank - 1");
      seen[d] = true;
      shape.push_back(from.shape[d]);
    }
    return {from.with_shape(std::move(shape))};
  }

  void require_pointer(std::size_t i) const {
    require(operand(i).pointer, "wanted pointers, found " + text(i));
  }
  void require_writable(std::size_t i) const {
    require_pointer(i);
    require(!operand(i).read_only, "nothing may be stored through " + text(i));
  }

  std::vector<Type> offset() const {
    require_pointer(0);
    const DType dtype = operand(1).dtype;
    require_kind(1, dtype == DType::i32 || dtype == DType::i64, "elements of i32 or i64");
    require_same(1, operand(0).with_dtype(dtype), "as many integers as pointers");
    return {operand(0)};
  }

  std::vector<Type> load() const {
    require_pointer(0);
    const Type result = operand(0).with_dtype(operand(0).dtype);
    if (op_.operands.size() > 1) require_same(1, result.with_dtype(DType::boolean), "the mask");
    if (op_.operands.size() > 2) require_same(2, result, "the masked-off elements");
    return {result};
  }

  std::vector<Type> store() const {
    require_writable(0);
    const Type value = operand(0).with_dtype(operand(0).dtype);
    require_same(1, value, "the stored elements");
    if (op_.operands.size() > 2) require_same(2, value.with_dtype(DType::boolean), "the mask");
    return {};
  }

  // Base, then three groups of `rank` scalars; `extra` operands follow.
  void require_view(int rank, std::size_t extra) const {
    require_pointer(0);
    require(operand(0).is_scalar(), "wanted one base pointer, found " + text(0));
    require(rank >= 1, "a view has at least one extent");
    const std::size_t scalars = 3 * static_cast<std::size_t>(rank);
    require(op_.operands.size() == 1 + scalars + extra,
            "wanted a base and " + std::to_string(scalars) +
                " extents, strides and offsets for rank " + std::to_string(rank) + ", found " +
                std::to_string(op_.operands.size()) + " operands");
    for (std::size_t i = 1; i <= scalars; ++i) {
      require_same(i, Type::scalar(DType::i64), "an extent, stride or offset");
    }
  }

  std::vector<Type> load_view() const {
    require_view(given_->rank(), 0);
    require(*given_ == Type::tile(operand(0).dtype, given_->shape),
            "wanted a tile of what the base points to, found " + text(0) + " and " +
                to_string(*given_));
    require_bits_fit(given_->dtype);
    return {*given_};
  }

  std::vector<Type> store_view() const {
    require_writable(0);
    const std::size_t last = op_.operands.size() - 1;
    require_view(operand(last).rank(), 1);
    require_same(last, Type::tile(operand(0).dtype, operand(last).shape), "the stored elements");
    return {};
  }

  std::vector<Type> dot() const {
    const Type& a = operand(0);
    const Type& b = operand(1);
    const Type& acc = operand(2);
    for (std::size_t i = 0; i < 3; ++i) {
      require_elements(i);
      require(operand(i).rank() == 2, "wanted tiles of rank 2, found " + text(i));
    }
    require(
        a.shape[1] == b.shape[0] && acc.shape == Shape({a.shape[0], b.shape[1]}),
        "wanted [M, K], [K, N] and [M, N], found " + text(0) + ", " + text(1) + " and " + text(2));
    require(a.dtype == b.dtype, "wanted one element type, found " + text(0) + " and " + text(1));
    DType wanted = DType::f32;
    switch (a.dtype) {
      case DType::f16:
      case DType::bf16:
      case DType::f32:
        break;
      case DType::f64:
        wanted = DType::f64;
        break;
      case DType::i8:
        wanted = DType::i32;
        break;
      default:
        fail("wanted f16, bf16, f32, f64 or i8, found " + text(0));
    }
    require(acc.dtype == wanted,
            "wanted an accumulator of " + std::string(name(wanted)) + ", found " + text(2));
    require(op_.precision == Precision::ieee || a.dtype == DType::f32,
            "precision tf32 is for f32 operands, found " + text(0));
    return {acc};
  }

  void require_arguments(const Block& region, const std::vector<Type>& wanted) const {
    require(region.arguments.size() == wanted.size(),
            "its region: wanted " + std::to_string(wanted.size()) + " arguments, found " +
                std::to_string(region.arguments.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      require(region.arguments[i] < kernel_.values.size(),
              "an argument is no value of this kernel");
      const Type& found = kernel_.values[region.arguments[i]];
      require(found == wanted[i], "argument " + std::to_string(i) + " of its region: wanted " +
                                      to_string(wanted[i]) + ", found " + to_string(found));
    }
  }

  [[nodiscard]] std::vector<Type> yielded(const Block& region) const {
    require(!region.ops.empty() && region.ops.back().code == Opcode::yield,
            "its region does not end in a yield");
    std::vector<Type> types;
    for (const ValueId id : region.ops.back().operands) {
      require(id < kernel_.values.size(), "a yielded value is no value of this kernel");
      types.push_back(kernel_.values[id]);
    }
    return types;
  }

  void require_yields(const Block& region, const std::vector<Type>& wanted) const {
    const std::vector<Type> found = yielded(region);
    require(found.size() == wanted.size(), "its region: wanted " + std::to_string(wanted.size()) +
                                               " yielded values, found " +
                                               std::to_string(found.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      require(found[i] == wanted[i], "value " + std::to_string(i) +
                                         " that its region yields: wanted " + to_string(wanted[i]) +
                                         ", found " + to_string(found[i]));
    }
  }

  std::vector<Type> reduce() const {
    const Shape& shape = operand(0).shape;
    require(op_.index >= 0 && op_.index < static_cast<std::int64_t>(shape.size()),
            "wanted an axis of " + text(0) + ", found " + std::to_string(op_.index));
    Shape rest = shape;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(op_.index));
    std::vector<Type> scalars;
    std::vector<Type> results;
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      require_elements(i);
      require(operand(i).shape == shape,
              "tiles must be of one shape, found " + text(0) + " and " + text(i));
      scalars.push_back(Type::scalar(operand(i).dtype));
      results.push_back(Type::tile(operand(i).dtype, rest));
    }
    std::vector<Type> arguments = scalars;
    arguments.insert(arguments.end(), scalars.begin(), scalars.end());
    require_arguments(op_.regions[0], arguments);
    require_yields(op_.regions[0], scalars);
    for (const Op& inner : op_.regions[0].ops) require_combining(inner);
    return results;
  }

  // A backend runs the region once per pair, in any order and on any number of pairs at a time.
  void require_combining(const Op& inner) const {
    const bool allowed = is_elementwise(inner.code) || inner.code == Opcode::constant ||
                         inner.code == Opcode::program_id || inner.code == Opcode::num_programs ||
                         inner.code == Opcode::yield;
    require(allowed, "its region may not hold " + std::string(name(inner.code)) +
                         ": wanted elementwise operations on scalars");
    for (const ValueId id : inner.results) {
      require(id < kernel_.values.size() && kernel_.values[id].is_scalar(),
              "its region works on scalars, but has a tile as result of " +
                  std::string(name(inner.code)));
    }
  }

  std::vector<Type> fold() const {
    const Type index = Type::scalar(operand(0).dtype);
    require(is_int(index.dtype), "bounds must be integers, found " + text(0));
    for (std::size_t i = 0; i < 3; ++i)
      require_same(i, index, "bounds must be scalars of one type");
    std::vector<Type> carried;
    for (std::size_t i = 3; i < op_.operands.size(); ++i) carried.push_back(operand(i));
    std::vector<Type> arguments = {index};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    require_arguments(op_.regions[0], arguments);
    require_yields(op_.regions[0], carried);
    return carried;
  }

  std::vector<Type> if_() const {
    require_same(0, Type::scalar(DType::boolean), "the condition");
    for (const Block& region : op_.regions) require_arguments(region, {});
    std::vector<Type> results = yielded(op_.regions[0]);
    require_yields(op_.regions[1], results);
    return results;
  }

  const Kernel& kernel_;
  const Op& op_;
  const Type* given_;
};

}  // namespace

std::vector<Type> result_types(const Kernel& kernel, const Op& op, const Type* given) {
  return Typing(kernel, op, given).results();
}

}  // namespace teeny::ir
