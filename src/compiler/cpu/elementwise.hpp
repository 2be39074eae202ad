#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "teeny/ir/op.hpp"
#include "teeny/ir/type.hpp"

namespace teeny::compiler::cpu {

using Builder = llvm::IRBuilder<>;

// How an element is held in a register: bool as i1, f16 and bf16 as their bits in an i16, pointers
// as ptr, the rest as themselves. In memory a bool is a byte.

[[nodiscard]] llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type);
[[nodiscard]] llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type);
/// Bytes of an element in memory, pointers included.
[[nodiscard]] std::int64_t memory_size(const ir::Type& type);

/// The type `<lanes x element>`, or the element itself for one lane.
[[nodiscard]] llvm::Type* with_lanes(llvm::Type* element, int lanes);

/// An element constant from its bits.
[[nodiscard]] llvm::Value* constant_of(llvm::LLVMContext& context, DType dtype, std::uint64_t bits);

[[nodiscard]] llvm::Value* from_memory(Builder& builder, const ir::Type& type, llvm::Value* value);
[[nodiscard]] llvm::Value* to_memory(Builder& builder, const ir::Type& type, llvm::Value* value);

/// One element-wise operation (ir::is_elementwise but offset) on scalars or on vectors, with
/// exactly the semantics that ir/op.hpp gives. `types` are the operands' types, `result` the
/// result's (their shapes do not matter). Error(internal) for what the passes should have expanded.
[[nodiscard]] llvm::Value* emit_elementwise(Builder& builder, const ir::Op& op,
                                            const std::vector<ir::Type>& types,
                                            const ir::Type& result,
                                            const std::vector<llvm::Value*>& operands);

/// Conversion between element types (Opcode::cast).
[[nodiscard]] llvm::Value* emit_cast(Builder& builder, DType from, DType to, llvm::Value* value);

}  // namespace teeny::compiler::cpu
