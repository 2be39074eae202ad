#include "teeny/ir/rewrite.hpp"

#include <string>
#include <utility>

#include "teeny/base/error.hpp"

namespace teeny::ir {

namespace {

class Rewriter {
 public:
  Rewriter(const Kernel& kernel, const Visitor& visit)
      : kernel_(kernel),
        visit_(visit),
        builder_(kernel.name, kernel.parameters(), kernel.options),
        map_(kernel.values.size(), no_value) {}

  Kernel run() {
    for (std::size_t i = 0; i < kernel_.body.arguments.size(); ++i) {
      map_[kernel_.body.arguments[i]] = builder_.parameter(i);
    }
    operations(kernel_.body);
    return builder_.finish();
  }

 private:
  void operations(const Block& block) {
    for (const Op& op : block.ops) {
      if (op.code != Opcode::yield) operation(op);
    }
  }

  void operation(const Op& original) {
    Op mapped;
    mapped.code = original.code;
    mapped.operands = mapped_values(original.operands);
    mapped.bits = original.bits;
    mapped.index = original.index;
    mapped.dims = original.dims;
    mapped.predicate = original.predicate;
    mapped.cache = original.cache;
    mapped.precision = original.precision;
    for (const Block& region : original.regions) mapped.regions.push_back(rewritten(region));

    auto replacement = visit_(builder_, mapped, original);
    if (!replacement) {
      const bool stated = states_result_type(original.code);
      builder_.append(std::move(mapped), stated ? &kernel_.type(original.results.at(0)) : nullptr);
      replacement = builder_.last_results();
    }
    if (replacement->size() != original.results.size()) {
      throw Error(ErrorKind::internal,
                  "rewriting " + std::string(name(original.code)) + " of kernel '" + kernel_.name +
                      "': wanted " + std::to_string(original.results.size()) + " results, found " +
                      std::to_string(replacement->size()));
    }
    for (std::size_t i = 0; i < replacement->size(); ++i) {
      map_[original.results[i]] = (*replacement)[i];
    }
  }

  Block rewritten(const Block& region) {
    std::vector<Type> types;
    for (const ValueId id : region.arguments) types.push_back(kernel_.type(id));
    return builder_.region(types, [&](const std::vector<ValueId>& arguments) {
      for (std::size_t i = 0; i < arguments.size(); ++i) map_[region.arguments[i]] = arguments[i];
      operations(region);
      return mapped_values(region.ops.back().operands);
    });
  }

  std::vector<ValueId> mapped_values(const std::vector<ValueId>& ids) const {
    std::vector<ValueId> result;
    for (const ValueId id : ids) result.push_back(map_.at(id));
    return result;
  }

  const Kernel& kernel_;
  const Visitor& visit_;
  Builder builder_;
  std::vector<ValueId> map_;
};

}  // namespace

Kernel rewrite(const Kernel& kernel, const Visitor& visit) { return Rewriter(kernel, visit).run(); }

}  // namespace teeny::ir
