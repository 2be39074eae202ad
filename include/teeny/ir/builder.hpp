#pragma once

#include <functional>
#include <string>
#include <vector>

#include "teeny/ir/kernel.hpp"

namespace teeny::ir {

/// Result types of `op` as its operands and attributes determine them. For operations whose result
/// type is given (see Opcode), `given` is that type and is checked. Error(input) saying which rule
/// is broken and both types. The one place that knows the typing rules: builder and verifier ask
/// it.
[[nodiscard]] std::vector<Type> result_types(const Kernel& kernel, const Op& op, const Type* given);

/// Records operations into a kernel. Every call checks the rules and throws Error(input).
class Builder {
 public:
  Builder(std::string name, const std::vector<Type>& parameters, KernelOptions options = {});

  [[nodiscard]] ValueId parameter(std::size_t index) const;
  [[nodiscard]] const Type& type(ValueId value) const { return kernel_.type(value); }

  /// Appends `op` (operands and attributes set, results empty); returns its first result, or
  /// no_value when it has none. `given`: see result_types.
  ValueId append(Op op, const Type* given = nullptr);
  /// All results of the last appended operation.
  [[nodiscard]] const std::vector<ValueId>& last_results() const { return last_results_; }

  // Short forms.
  ValueId constant(Type type, std::uint64_t bits);
  ValueId program_id(int axis);
  ValueId num_programs(int axis);
  ValueId arange(std::int64_t start, std::int64_t count);
  ValueId cast(ValueId value, DType to);
  ValueId bitcast(ValueId value, DType to);
  ValueId unary(Opcode code, ValueId value);
  ValueId binary(Opcode code, ValueId left, ValueId right);
  ValueId compare(Predicate predicate, ValueId left, ValueId right);
  ValueId select(ValueId condition, ValueId yes, ValueId no);
  ValueId fma(ValueId a, ValueId b, ValueId c);
  ValueId reshape(ValueId value, Shape shape);
  ValueId broadcast(ValueId value, Shape shape);
  ValueId permute(ValueId value, std::vector<int> dims);
  ValueId offset(ValueId pointer, ValueId elements);
  ValueId load(ValueId pointer, ValueId mask = no_value, ValueId other = no_value,
               Cache cache = Cache::automatic);
  void store(ValueId pointer, ValueId value, ValueId mask = no_value,
             Cache cache = Cache::automatic);
  ValueId load_view(ValueId base, const std::vector<ValueId>& extents,
                    const std::vector<ValueId>& strides, const std::vector<ValueId>& offsets,
                    Shape shape, std::uint64_t padding_bits);
  void store_view(ValueId base, const std::vector<ValueId>& extents,
                  const std::vector<ValueId>& strides, const std::vector<ValueId>& offsets,
                  ValueId value);
  ValueId dot(ValueId a, ValueId b, ValueId acc, Precision precision = Precision::ieee);

  using Values = std::vector<ValueId>;
  /// The callback receives the region's arguments and returns what it yields.
  Values reduce(const Values& tiles, int axis, const std::function<Values(const Values&)>& combine);
  Values fold(ValueId lo, ValueId hi, ValueId step, const Values& inits,
              const std::function<Values(const Values&)>& body);
  Values if_(ValueId condition, const std::function<Values()>& yes,
             const std::function<Values()>& no);

  /// Records a region with arguments of these types, ending in a yield of what `body` returns, for
  /// an operation that is appended next. Its values are not visible outside of it.
  Block region(const std::vector<Type>& arguments,
               const std::function<Values(const Values&)>& body);
  /// Puts the operations of a region without arguments that this builder recorded, and that no
  /// operation holds, at the end of the current block; returns what the region yields.
  Values splice(Block region);

  /// The finished, verified kernel; the builder is spent.
  [[nodiscard]] Kernel finish();

 private:
  void require_visible(const Op& op) const;
  void set_visible(const Block& block, bool visible);
  ValueId new_value(Type type);
  Kernel kernel_;
  std::vector<Block> open_;  // blocks being recorded, outermost first
  std::vector<ValueId> last_results_;
  std::vector<bool> visible_;  // by ValueId: defined, and in a block that is still open
};

}  // namespace teeny::ir
