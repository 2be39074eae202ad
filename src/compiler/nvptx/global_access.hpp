#pragma once

#include <vector>

#include "compiler/nvptx/scalar.hpp"

#include "teeny/ir/op.hpp"

namespace teeny::compiler::nvptx {

/// How neighbours in memory are read or written by one instruction: as 1, 2 or 4 words of 8 to 64
/// bits, each of which holds one element or several small ones.
class GlobalAccess {
 public:
  using Value = llvm::Value;
  using Values = std::vector<Value*>;

  /// `count` elements, a power of two, of 16 bytes together at most.
  GlobalAccess(Builder& builder, DType dtype, int count, ir::Cache cache);

  /// The words at an address that is a multiple of all their bytes. `mask`: whether to read at all,
  /// else they are those of `others`; nullptr: always. `read_only`: nobody writes there while the
  /// kernel runs.
  [[nodiscard]] Values load(Value* pointer, Value* mask, const Values& others, bool read_only);
  /// Writes elements, likewise.
  void store(Value* pointer, Value* mask, const Values& elements);

  /// The elements at an address that is a multiple of one element's bytes only, one by one in a
  /// single piece of assembly: what LLVM does with it costs as much as for one load. `masks`: one
  /// an element; empty: always.
  [[nodiscard]] Values load_apart(Value* pointer, const Values& masks, const Values& others,
                                  bool read_only);
  /// Writes elements, likewise.
  void store_apart(Value* pointer, const Values& masks, const Values& elements);

  /// Elements as words, and back.
  [[nodiscard]] Values words_of(const Values& elements);
  [[nodiscard]] Values elements_of(const Values& words);

  [[nodiscard]] int bytes() const { return count_ * element_bytes_; }
  [[nodiscard]] std::size_t word_count() const { return word_count_; }

 private:
  /// "ld.global.cs": the instruction and how it goes about the caches.
  [[nodiscard]] std::string load_name(bool read_only) const;
  [[nodiscard]] std::string store_name() const;
  /// "[$4+8]": where an element is.
  [[nodiscard]] std::string place(const std::string& address, std::size_t element) const;
  /// ".v4.f32": what ld and st say of the words.
  [[nodiscard]] std::string suffix() const;

  Builder& builder_;
  ir::Type element_;
  ir::Cache cache_;
  int count_;
  int element_bytes_;
  std::size_t word_count_;
  llvm::Type* word_;  ///< in memory
};

/// Whether a mask is known to be true (nullptr is), or to be false.
[[nodiscard]] bool always(const llvm::Value* mask);
[[nodiscard]] bool never(const llvm::Value* mask);

}  // namespace teeny::compiler::nvptx
