#include "teeny/ir/builder.hpp"

#include <utility>

#include "ir/rules.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/verify.hpp"

namespace teeny::ir {

std::vector<Type> Kernel::parameters() const {
  std::vector<Type> types;
  for (const ValueId id : body.arguments) types.push_back(type(id));
  return types;
}

namespace {
Op make(Opcode code, std::vector<ValueId> operands) {
  Op op;
  op.code = code;
  op.operands = std::move(operands);
  return op;
}
}  // namespace

Builder::Builder(std::string name, const std::vector<Type>& parameters, KernelOptions options) {
  kernel_.name = std::move(name);
  kernel_.options = options;
  for (const Type& type : parameters) kernel_.body.arguments.push_back(new_value(type));
  verify(kernel_);  // the body is empty: this checks name, options and parameters
  open_.push_back(kernel_.body);
}

ValueId Builder::parameter(std::size_t index) const {
  if (index >= open_.front().arguments.size()) {
    throw Error(ErrorKind::input, "kernel '" + kernel_.name + "' has " +
                                      std::to_string(open_.front().arguments.size()) +
                                      " parameters; there is no parameter " +
                                      std::to_string(index));
  }
  return open_.front().arguments[index];
}

ValueId Builder::new_value(Type type) {
  kernel_.values.push_back(std::move(type));
  visible_.push_back(true);
  return static_cast<ValueId>(kernel_.values.size() - 1);
}

void Builder::require_visible(const Op& op) const {
  for (const ValueId id : op.operands) {
    if (id >= visible_.size() || !visible_[id]) {
      throw Error(ErrorKind::input,
                  "kernel '" + kernel_.name + "', " + std::string(ir::name(op.code)) +
                      ": an operand does not exist here",
                  "a value made inside a fold, if or reduce exists only there: yield it to use it "
                  "afterwards");
    }
  }
}

void Builder::set_visible(const Block& block, bool visible) {
  for (const ValueId id : block.arguments) visible_[id] = visible;
  for (const Op& op : block.ops) {
    for (const ValueId id : op.results) visible_[id] = visible;
  }
}

ValueId Builder::append(Op op, const Type* given) {
  if (open_.empty()) throw Error(ErrorKind::internal, "a finished kernel takes no more operations");
  require_visible(op);
  std::vector<Type> types;
  try {
    types = result_types(kernel_, op, given);
  } catch (const Error& error) {
    throw Error(error.kind(), "kernel '" + kernel_.name + "', " + error.message(), error.next());
  }
  last_results_.clear();
  for (Type& type : types) last_results_.push_back(new_value(std::move(type)));
  op.results = last_results_;
  open_.back().ops.push_back(std::move(op));
  return last_results_.empty() ? no_value : last_results_.front();
}

ValueId Builder::constant(Type type, std::uint64_t bits) {
  Op op = make(Opcode::constant, {});
  op.bits = bits;
  return append(std::move(op), &type);
}

ValueId Builder::program_id(int axis) {
  Op op = make(Opcode::program_id, {});
  op.index = axis;
  return append(std::move(op));
}

ValueId Builder::num_programs(int axis) {
  Op op = make(Opcode::num_programs, {});
  op.index = axis;
  return append(std::move(op));
}

ValueId Builder::arange(std::int64_t start, std::int64_t count) {
  Op op = make(Opcode::arange, {});
  op.index = start;
  const Type type = Type::tile(DType::i32, {count});
  return append(std::move(op), &type);
}

ValueId Builder::cast(ValueId value, DType to) {
  const Op op = make(Opcode::cast, {value});
  require_visible(op);
  const Type result = type(value).with_dtype(to);
  return append(op, &result);
}

ValueId Builder::bitcast(ValueId value, DType to) {
  const Op op = make(Opcode::bitcast, {value});
  require_visible(op);
  const Type result = type(value).with_dtype(to);
  return append(op, &result);
}

ValueId Builder::unary(Opcode code, ValueId value) { return append(make(code, {value})); }

ValueId Builder::binary(Opcode code, ValueId left, ValueId right) {
  return append(make(code, {left, right}));
}

ValueId Builder::compare(Predicate predicate, ValueId left, ValueId right) {
  Op op = make(Opcode::compare, {left, right});
  op.predicate = predicate;
  return append(std::move(op));
}

ValueId Builder::select(ValueId condition, ValueId yes, ValueId no) {
  return append(make(Opcode::select, {condition, yes, no}));
}

ValueId Builder::fma(ValueId a, ValueId b, ValueId c) {
  return append(make(Opcode::fma, {a, b, c}));
}

ValueId Builder::reshape(ValueId value, Shape shape) {
  const Op op = make(Opcode::reshape, {value});
  require_visible(op);
  const Type result = type(value).with_shape(std::move(shape));
  return append(op, &result);
}

ValueId Builder::broadcast(ValueId value, Shape shape) {
  const Op op = make(Opcode::broadcast, {value});
  require_visible(op);
  const Type result = type(value).with_shape(std::move(shape));
  return append(op, &result);
}

ValueId Builder::permute(ValueId value, std::vector<int> dims) {
  Op op = make(Opcode::permute, {value});
  op.dims = std::move(dims);
  return append(std::move(op));
}

ValueId Builder::offset(ValueId pointer, ValueId elements) {
  return append(make(Opcode::offset, {pointer, elements}));
}

ValueId Builder::load(ValueId pointer, ValueId mask, ValueId other, Cache cache) {
  if (mask == no_value && other != no_value) {
    throw Error(
        ErrorKind::input,
        "kernel '" + kernel_.name + "', load: elements for where the mask is off, but no mask",
        "give a mask as well");
  }
  Op op = make(Opcode::load, {pointer});
  if (mask != no_value) op.operands.push_back(mask);
  if (other != no_value) op.operands.push_back(other);
  op.cache = cache;
  return append(std::move(op));
}

void Builder::store(ValueId pointer, ValueId value, ValueId mask, Cache cache) {
  Op op = make(Opcode::store, {pointer, value});
  if (mask != no_value) op.operands.push_back(mask);
  op.cache = cache;
  append(std::move(op));
}

namespace {
Op make_view(Opcode code, ValueId base, const std::vector<ValueId>& extents,
             const std::vector<ValueId>& strides, const std::vector<ValueId>& offsets) {
  if (extents.size() != strides.size() || extents.size() != offsets.size()) {
    throw Error(ErrorKind::input, std::string(name(code)) +
                                      ": wanted as many extents as strides and offsets, found " +
                                      std::to_string(extents.size()) + ", " +
                                      std::to_string(strides.size()) + " and " +
                                      std::to_string(offsets.size()));
  }
  Op op = make(code, {base});
  for (const auto* group : {&extents, &strides, &offsets}) {
    op.operands.insert(op.operands.end(), group->begin(), group->end());
  }
  return op;
}
}  // namespace

ValueId Builder::load_view(ValueId base, const std::vector<ValueId>& extents,
                           const std::vector<ValueId>& strides, const std::vector<ValueId>& offsets,
                           Shape shape, std::uint64_t padding_bits) {
  Op op = make_view(Opcode::load_view, base, extents, strides, offsets);
  require_visible(op);
  op.bits = padding_bits;
  const Type result = Type::tile(type(base).dtype, std::move(shape));
  return append(std::move(op), &result);
}

void Builder::store_view(ValueId base, const std::vector<ValueId>& extents,
                         const std::vector<ValueId>& strides, const std::vector<ValueId>& offsets,
                         ValueId value) {
  Op op = make_view(Opcode::store_view, base, extents, strides, offsets);
  op.operands.push_back(value);
  append(std::move(op));
}

ValueId Builder::dot(ValueId a, ValueId b, ValueId acc, Precision precision) {
  Op op = make(Opcode::dot, {a, b, acc});
  op.precision = precision;
  return append(std::move(op));
}

Block Builder::region(const std::vector<Type>& arguments,
                      const std::function<Values(const Values&)>& body) {
  if (open_.empty()) throw Error(ErrorKind::internal, "a finished kernel takes no more operations");
  const std::size_t depth = open_.size();
  Block block;
  for (const Type& type : arguments) block.arguments.push_back(new_value(type));
  const Values values = block.arguments;
  open_.push_back(std::move(block));
  try {
    append(make(Opcode::yield, body(values)));
  } catch (...) {
    while (open_.size() > depth) {
      set_visible(open_.back(), false);
      open_.pop_back();
    }
    throw;
  }
  block = std::move(open_.back());
  open_.pop_back();
  set_visible(block, false);
  return block;
}

Builder::Values Builder::splice(Block region) {
  if (!region.arguments.empty() || region.ops.empty() || region.ops.back().code != Opcode::yield) {
    throw Error(ErrorKind::internal, "only a whole region without arguments can be spliced");
  }
  Values yielded = region.ops.back().operands;
  region.ops.pop_back();
  set_visible(region, true);
  for (Op& op : region.ops) open_.back().ops.push_back(std::move(op));
  return yielded;
}

Builder::Values Builder::reduce(const Values& tiles, int axis,
                                const std::function<Values(const Values&)>& combine) {
  Op op = make(Opcode::reduce, tiles);
  require_visible(op);
  op.index = axis;
  std::vector<Type> arguments;
  for (int half = 0; half < 2; ++half) {
    for (const ValueId tile : tiles) arguments.push_back(Type::scalar(type(tile).dtype));
  }
  op.regions.push_back(region(arguments, combine));
  append(std::move(op));
  return last_results_;
}

Builder::Values Builder::fold(ValueId lo, ValueId hi, ValueId step, const Values& inits,
                              const std::function<Values(const Values&)>& body) {
  Op op = make(Opcode::fold, {lo, hi, step});
  op.operands.insert(op.operands.end(), inits.begin(), inits.end());
  require_visible(op);
  std::vector<Type> arguments = {Type::scalar(type(lo).dtype)};
  for (const ValueId init : inits) arguments.push_back(type(init));
  op.regions.push_back(region(arguments, body));
  append(std::move(op));
  return last_results_;
}

Builder::Values Builder::if_(ValueId condition, const std::function<Values()>& yes,
                             const std::function<Values()>& no) {
  Op op = make(Opcode::if_, {condition});
  require_visible(op);
  op.regions.push_back(region({}, [&](const Values&) { return yes(); }));
  op.regions.push_back(region({}, [&](const Values&) { return no(); }));
  append(std::move(op));
  return last_results_;
}

Kernel Builder::finish() {
  if (open_.size() != 1) {
    throw Error(ErrorKind::internal, "a kernel is finished once, outside of its regions");
  }
  kernel_.body = std::move(open_.front());
  open_.clear();
  visible_.clear();
  Kernel result = std::move(kernel_);
  verify(result);
  return result;
}

}  // namespace teeny::ir
