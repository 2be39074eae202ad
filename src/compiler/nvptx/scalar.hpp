#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "teeny/ir/op.hpp"
#include "teeny/target/capability.hpp"

namespace teeny::compiler::nvptx {

using Builder = llvm::IRBuilder<>;

/// Address spaces of NVPTX.
inline constexpr unsigned global_space = 1;
inline constexpr unsigned shared_space = 3;

/// One element as LLVM sees it in a register: bool i1, integers of their width, f16 and bf16 their
/// bits in an i16 (so that no target needs to know the type), f32, f64, pointers to global memory.
[[nodiscard]] llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type);
/// The same in memory: bool takes a byte.
[[nodiscard]] llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type);
[[nodiscard]] int memory_bytes(const ir::Type& type);
[[nodiscard]] llvm::Value* to_memory(Builder& builder, llvm::Value* value);
[[nodiscard]] llvm::Value* from_memory(Builder& builder, const ir::Type& type, llvm::Value* value);

/// The element that `bits` stand for.
[[nodiscard]] llvm::Constant* constant(llvm::LLVMContext& context, DType dtype, std::uint64_t bits);

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
  Value* float_unary(ir::Opcode code, Value* value);
  Value* minimum_or_maximum(bool minimum, Value* a, Value* b);
  Value* int_op(const ir::Op& op, DType dtype, const std::vector<Value*>& values);
  Value* divide(DType dtype, Value* dividend, Value* divisor, bool remainder);
  Value* shift(DType dtype, Value* value, Value* amount, bool left);
  Value* multiply_high(Value* a, Value* b);
  Value* compare(ir::Predicate predicate, DType dtype, Value* a, Value* b);

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
