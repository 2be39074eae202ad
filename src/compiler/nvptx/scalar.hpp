#pragma once

#include <vector>

#include "compiler/llvm/elements.hpp"

#include "teeny/ir/op.hpp"
#include "teeny/target/capability.hpp"

namespace teeny::compiler::nvptx {

/// Address spaces of NVPTX.
inline constexpr unsigned global_space = 1;
inline constexpr unsigned shared_space = 3;

[[nodiscard]] inline llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type) {
  return compiler::register_type(context, type, global_space);
}
[[nodiscard]] inline llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type) {
  return compiler::memory_type(context, type, global_space);
}

/// Elementwise operations on one element of each operand, with the semantics of ir/op.hpp.
/// Error(internal) for an operation that the passes before should have expanded.
class ScalarOps {
 public:
  ScalarOps(Builder& builder, Capability capability) : builder_(builder), capability_(capability) {}

  [[nodiscard]] llvm::Value* emit(const ir::Op& op, const ir::Type& operand, const ir::Type& result,
                                  const std::vector<llvm::Value*>& values);
  [[nodiscard]] llvm::Value* cast(llvm::Value* value, DType from, DType to);

 private:
  using Value = llvm::Value;
  Value* float_op(const ir::Op& op, DType dtype, const std::vector<Value*>& values);
  Value* minimum_or_maximum(bool minimum, Value* a, Value* b);
  Value* int_op(const ir::Op& op, DType dtype, const std::vector<Value*>& values);
  Value* multiply_high(Value* a, Value* b);

  Value* to_float(Value* value, DType from);
  Value* from_float(Value* value, DType to);
  Value* float_to_bf16(Value* value);
  Value* float_to_int(Value* value, DType to);
  Value* int_to_bf16(Value* value, DType from);
  Value* double_to_odd_float(Value* value);
  Value* intrinsic(llvm::Intrinsic::ID id, Value* value);

  Builder& builder_;
  Capability capability_;
};

}  // namespace teeny::compiler::nvptx
