#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "teeny/ir/op.hpp"
#include "teeny/ir/type.hpp"

// What both backends say alike about elements and whole numbers. Everything here takes one element
// or an LLVM vector of them.

namespace teeny::compiler {

using Builder = llvm::IRBuilder<>;

/// An element in a register: bool i1, integers of their width, f16 and bf16 their bits in an i16
/// (so that no target needs to know the type), f32, f64; pointers of the given address space.
[[nodiscard]] llvm::Type* register_type(llvm::LLVMContext& context, const ir::Type& type,
                                        unsigned pointer_space);
/// The same in memory: a bool takes a byte.
[[nodiscard]] llvm::Type* memory_type(llvm::LLVMContext& context, const ir::Type& type,
                                      unsigned pointer_space);
/// Bytes of an element in memory, pointers included.
[[nodiscard]] int memory_bytes(const ir::Type& type);
[[nodiscard]] llvm::Value* to_memory(Builder& builder, llvm::Value* value);
[[nodiscard]] llvm::Value* from_memory(Builder& builder, const ir::Type& type, llvm::Value* value);

/// The element that `bits` stand for.
[[nodiscard]] llvm::Constant* constant(llvm::LLVMContext& context, DType dtype, std::uint64_t bits);

/// Comparison of numbers as LLVM knows them: integers of `dtype`'s signedness, or f32 and f64, for
/// which a NaN equals nothing and is not less than anything.
[[nodiscard]] llvm::Value* compare(Builder& builder, ir::Predicate predicate, DType dtype,
                                   llvm::Value* left, llvm::Value* right);

/// An operation on integers (and bool) with the semantics of ir/op.hpp; nullptr for one that is
/// none or that each backend does in its own way (umulhi).
[[nodiscard]] llvm::Value* integer_op(Builder& builder, ir::Opcode code, DType dtype,
                                      const std::vector<llvm::Value*>& values);

/// An operation on f32 or f64 that LLVM has; nullptr for any other, minimum and maximum included,
/// which not every chip has with NaN as the language wants it.
[[nodiscard]] llvm::Value* float_op(Builder& builder, ir::Opcode code,
                                    const std::vector<llvm::Value*>& values);

}  // namespace teeny::compiler
