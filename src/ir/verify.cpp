#include "teeny/ir/verify.hpp"

#include <cstdint>

#include "ir/rules.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/builder.hpp"

namespace teeny::ir {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Verifier {
 public:
  Verifier(const Kernel& kernel, std::size_t* position)
      : kernel_(kernel), position_(position), states_(kernel.values.size(), State::undefined) {}

  void run() {
    *position_ = 0;
    header();
    for (const ValueId id : kernel_.body.arguments) {
      define(id);
      const Type& type = kernel_.values[id];
      require(type.is_scalar(), "a parameter must be a scalar, found " + to_string(type));
    }
    block(kernel_.body, 0);
  }

 private:
  enum class State : std::uint8_t { undefined, visible, closed };

  [[noreturn]] void fail(const std::string& rule) const {
    std::string where = "kernel '" + kernel_.name + "'";
    if (op_ != nullptr) {
      where +=
          ", operation " + std::to_string(*position_) + " (" + std::string(name(op_->code)) + ")";
    }
    throw Error(ErrorKind::input, where + ": " + rule);
  }
  void require(bool holds, const std::string& rule) const {
    if (!holds) fail(rule);
  }

  void header() const {
    if (!is_kernel_name(kernel_.name)) {
      fail("the name is not an identifier of letters, digits and _, at most " +
           std::to_string(max_name_length) + " characters long");
    }
    const KernelOptions& options = kernel_.options;
    const int warps = options.num_warps;
    require(warps >= 1 && warps <= 32 && (warps & (warps - 1)) == 0,
            "num_warps: wanted 1, 2, 4, 8, 16 or 32, found " + std::to_string(warps));
    require(options.num_stages >= 1 && options.num_stages <= 16,
            "num_stages: wanted 1 to 16, found " + std::to_string(options.num_stages));
    const int registers = options.max_registers;
    require(registers == 0 || (registers >= 16 && registers <= 255),
            "max_registers: wanted 0 or 16 to 255, found " + std::to_string(registers));
  }

  void define(ValueId id) {
    require(id < states_.size(), "a result or argument is no value of this kernel");
    require(states_[id] == State::undefined, "a value is defined twice");
    check_type(id);
    states_[id] = State::visible;
  }

  void check_type(ValueId id) const {
    const std::string rule = broken_rule(kernel_.values[id]);
    require(rule.empty(), to_string(kernel_.values[id]) + ": " + rule);
  }

  void use(ValueId id) const {
    require(id < states_.size(), "an operand is no value of this kernel");
    require(states_[id] != State::undefined, "an operand is used before it is defined");
    require(states_[id] != State::closed,
            "an operand is used outside of the region that defines it");
  }

  void block(const Block& block, int depth) {
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      ++*position_;
      op_ = &block.ops[i];
      const bool is_last = i + 1 == block.ops.size();
      if (op_->code == Opcode::yield) {
        require(depth > 0, "only a region ends in a yield, not the kernel's body");
        require(is_last, "a yield is the last operation of its region");
      }
      operation(block.ops[i], depth);
    }
  }

  void operation(const Op& op, int depth) {
    require(static_cast<std::size_t>(op.code) < all_opcodes().size(), "no such opcode");
    for (const ValueId id : op.operands) use(id);
    require(op.regions.empty() || depth < max_nesting,
            "more than " + std::to_string(max_nesting) + " regions inside one another");
    const std::size_t own_position = *position_;
    for (const Block& region : op.regions) {
      op_ = &op;
      for (const ValueId id : region.arguments) define(id);
      block(region, depth + 1);
      close(region);
    }
    // What is wrong inside a region is told first, at its own place; now the operation itself.
    const std::size_t reached = *position_;
    *position_ = own_position;
    op_ = &op;
    check_types(op);
    for (const ValueId id : op.results) define(id);
    *position_ = reached;
  }

  void check_types(const Op& op) const {
    for (const ValueId id : op.results) {
      require(id < states_.size(), "a result is no value of this kernel");
      check_type(id);
    }
    const Type* given = op.results.size() == 1 ? &kernel_.values[op.results[0]] : nullptr;
    std::vector<Type> wanted;
    try {
      wanted = result_types(kernel_, op, given);
    } catch (const Error& error) {
      // The message begins with the opcode, which fail() says as well.
      fail(error.message().substr(name(op.code).size() + 2));
    }
    require(op.results.size() == wanted.size(), "wanted " + std::to_string(wanted.size()) +
                                                    " results, found " +
                                                    std::to_string(op.results.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Type& found = kernel_.values[op.results[i]];
      require(found == wanted[i], "result " + std::to_string(i) + ": wanted " +
                                      to_string(wanted[i]) + ", found " + to_string(found));
    }
  }

  void close(const Block& region) {
    for (const ValueId id : region.arguments) states_[id] = State::closed;
    for (const Op& op : region.ops) {
      for (const ValueId id : op.results) states_[id] = State::closed;
    }
  }

  const Kernel& kernel_;
  std::size_t* position_;
  std::vector<State> states_;
  const Op* op_ = nullptr;
};

}  // namespace

bool is_kernel_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > max_name_length || !is_letter(name[0])) return false;
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

void verify_counting(const Kernel& kernel, std::size_t* position) {
  Verifier(kernel, position).run();
}

void verify(const Kernel& kernel) {
  std::size_t position = 0;
  verify_counting(kernel, &position);
}

}  // namespace teeny::ir
