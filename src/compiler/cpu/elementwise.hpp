#pragma once

#include <vector>

#include "compiler/llvm/elements.hpp"

#include "teeny/ir/op.hpp"
#include "teeny/ir/type.hpp"

namespace teeny::compiler::cpu {

[[nodiscard]] inline llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type) {
  return compiler::register_type(context, type, 0);
}
[[nodiscard]] inline llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type) {
  return compiler::memory_type(context, type, 0);
}

/// The type `<lanes x element>`, or the element itself for one lane.
[[nodiscard]] llvm::Type* with_lanes(llvm::Type* element, int lanes);

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
