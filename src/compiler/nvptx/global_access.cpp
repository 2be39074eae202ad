#include "compiler/nvptx/global_access.hpp"

#include <llvm/IR/InlineAsm.h>

namespace teeny::compiler::nvptx {
namespace {

/// How a word is written in PTX: the suffixes of ld and st and of mov, and the inline-assembly
/// constraint and type of the register that holds it.
struct PtxForm {
  std::string suffix;
  std::string move;
  std::string constraint;
  llvm::Type* type;
};

PtxForm ptx_form(Builder& builder, llvm::Type* word) {
  if (word->isFloatTy()) return {"f32", "f32", "f", word};
  if (word->isDoubleTy()) return {"f64", "f64", "d", word};
  switch (word->getIntegerBitWidth()) {
    case 8:
      return {"u8", "b16", "h", builder.getInt16Ty()};
    case 16:
      return {"u16", "b16", "h", word};
    case 32:
      return {"u32", "b32", "r", word};
    default:
      return {"u64", "b64", "l", word};
  }
}

llvm::Align alignment(int bytes) { return llvm::Align(static_cast<std::uint64_t>(bytes)); }

}  // namespace

bool always(const llvm::Value* mask) {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask);
  return mask == nullptr || (known != nullptr && known->isOne());
}

bool never(const llvm::Value* mask) {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask);
  return known != nullptr && known->isZero();
}

GlobalAccess::GlobalAccess(Builder& builder, DType dtype, int count, ir::Cache cache)
    : builder_(builder),
      element_(ir::Type::scalar(dtype)),
      cache_(cache),
      count_(count),
      element_bytes_(size_of(dtype)) {
  const int word_bytes = std::min(bytes(), std::max(4, element_bytes_));
  word_count_ = static_cast<std::size_t>(bytes() / word_bytes);
  word_ = word_bytes == element_bytes_ ? memory_type(builder.getContext(), element_)
                                       : builder.getIntNTy(static_cast<unsigned>(8 * word_bytes));
}

GlobalAccess::Values GlobalAccess::words_of(const Values& elements) {
  const std::size_t each = elements.size() / word_count_;
  Values words;
  for (std::size_t first = 0; first < elements.size(); first += each) {
    Value* word = to_memory(builder_, elements[first]);
    if (each > 1) word = builder_.CreateZExt(word, word_);
    for (std::size_t i = 1; i < each; ++i) {
      Value* part = builder_.CreateZExt(to_memory(builder_, elements[first + i]), word_);
      const auto place = static_cast<std::uint64_t>(8 * element_bytes_) * i;
      word = builder_.CreateOr(word, builder_.CreateShl(part, place));
    }
    words.push_back(word);
  }
  return words;
}

GlobalAccess::Values GlobalAccess::elements_of(const Values& words) {
  const auto each = static_cast<std::size_t>(count_) / word_count_;
  llvm::Type* memory = memory_type(builder_.getContext(), element_);
  Values elements;
  for (Value* word : words) {
    for (std::size_t i = 0; i < each; ++i) {
      Value* part = word;
      if (i > 0)
        part = builder_.CreateLShr(part, static_cast<std::uint64_t>(8 * element_bytes_) * i);
      if (each > 1) part = builder_.CreateTrunc(part, memory);
      elements.push_back(from_memory(builder_, element_, part));
    }
  }
  return elements;
}

std::string GlobalAccess::suffix() const {
  const std::string vector = word_count_ > 1 ? ".v" + std::to_string(word_count_) : "";
  return vector + "." + ptx_form(builder_, word_).suffix;
}

std::string GlobalAccess::operands(std::size_t first) const {
  std::string list;
  for (std::size_t i = 0; i < word_count_; ++i) {
    list += (i > 0 ? ", $" : "$") + std::to_string(first + i);
  }
  return word_count_ > 1 ? "{" + list + "}" : list;
}

GlobalAccess::Values GlobalAccess::load(Value* pointer, Value* mask, const Values& others,
                                        bool read_only) {
  if (never(mask)) return words_of(others);
  if (always(mask) && cache_ == ir::Cache::automatic) {
    llvm::Type* all = word_count_ == 1
                          ? word_
                          : llvm::FixedVectorType::get(word_, static_cast<unsigned>(word_count_));
    llvm::LoadInst* load = builder_.CreateAlignedLoad(all, pointer, alignment(bytes()));
    if (read_only) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(builder_.getContext(), {}));
    }
    Values words;
    for (std::size_t i = 0; i < word_count_; ++i) {
      words.push_back(word_count_ == 1 ? load : builder_.CreateExtractElement(load, i));
    }
    return words;
  }
  // A predicated instruction: no branch, so that many loads are under way at a time.
  const PtxForm form = ptx_form(builder_, word_);
  std::string text;
  std::string constraints;
  for (std::size_t i = 0; i < word_count_; ++i) constraints += "=&" + form.constraint + ",";
  constraints += "l";
  std::vector<llvm::Type*> types = {pointer->getType()};
  Values inputs = {pointer};
  const std::string address = "$" + std::to_string(word_count_);
  if (!always(mask)) {
    types.push_back(mask->getType());
    inputs.push_back(mask);
    constraints += ",b";
    std::size_t next = word_count_ + 2;
    const Values words = words_of(others);
    for (std::size_t i = 0; i < words.size(); ++i) {
      Value* word = words[i];
      if (word->getType() != form.type) word = builder_.CreateZExt(word, form.type);
      types.push_back(form.type);
      inputs.push_back(word);
      constraints += "," + form.constraint;
      text +=
          "mov." + form.move + " $" + std::to_string(i) + ", $" + std::to_string(next++) + ";\n\t";
    }
    text += "@$" + std::to_string(word_count_ + 1) + " ";
  }
  text += "ld.global";
  if (cache_ == ir::Cache::streaming) text += ".cs";
  if (read_only) text += ".nc";
  text += suffix() + " " + operands(0) + ", [" + address + "];";
  llvm::Type* result = form.type;
  if (word_count_ > 1) {
    result = llvm::StructType::get(builder_.getContext(),
                                   std::vector<llvm::Type*>(word_count_, form.type));
  }
  auto* signature = llvm::FunctionType::get(result, types, false);
  // Reads of what others may write keep their place among writes and barriers.
  Value* loaded = builder_.CreateCall(
      llvm::InlineAsm::get(signature, text, constraints, /*hasSideEffects=*/!read_only), inputs);
  Values words;
  for (std::size_t i = 0; i < word_count_; ++i) {
    Value* word =
        word_count_ == 1 ? loaded : builder_.CreateExtractValue(loaded, static_cast<unsigned>(i));
    words.push_back(form.type == word_ ? word : builder_.CreateTrunc(word, word_));
  }
  return words;
}

void GlobalAccess::store(Value* pointer, Value* mask, const Values& elements) {
  if (never(mask)) return;
  Values words = words_of(elements);
  if (always(mask) && cache_ == ir::Cache::automatic) {
    Value* all = words[0];
    if (word_count_ > 1) {
      all = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(word_, static_cast<unsigned>(word_count_)));
      for (std::size_t i = 0; i < word_count_; ++i) {
        all = builder_.CreateInsertElement(all, words[i], i);
      }
    }
    builder_.CreateAlignedStore(all, pointer, alignment(bytes()));
    return;
  }
  const PtxForm form = ptx_form(builder_, word_);
  std::string constraints = "l";
  std::vector<llvm::Type*> types = {pointer->getType()};
  Values inputs = {pointer};
  for (Value* word : words) {
    if (word->getType() != form.type) word = builder_.CreateZExt(word, form.type);
    types.push_back(form.type);
    inputs.push_back(word);
    constraints += "," + form.constraint;
  }
  std::string text = "st.global";
  if (cache_ == ir::Cache::streaming) text += ".cs";
  text += suffix() + " [$0], " + operands(1) + ";";
  if (!always(mask)) {
    text = "@$" + std::to_string(word_count_ + 1) + " " + text;
    constraints += ",b";
    types.push_back(mask->getType());
    inputs.push_back(mask);
  }
  auto* signature = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(signature, text, constraints, /*hasSideEffects=*/true),
                      inputs);
}

}  // namespace teeny::compiler::nvptx
