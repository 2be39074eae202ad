#include "compiler/nvptx/global_access.hpp"

#include <algorithm>
#include <map>

#include <llvm/IR/InlineAsm.h>

#include "teeny/base/text.hpp"

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

/// "{$0, $1}"
std::string operands(const std::vector<std::string>& names) {
  return names.size() > 1 ? "{" + join(names, ", ") + "}" : names[0];
}

/// One piece of inline assembly, operand by operand; outputs come first.
class Assembly {
 public:
  explicit Assembly(Builder& builder) : builder_(builder) {}

  /// Each gives the name of the operand in the text.
  std::string output(const PtxForm& form) {
    outputs_.push_back(form.type);
    return add("=&" + form.constraint);
  }
  std::string input(llvm::Value* value, const std::string& constraint) {
    types_.push_back(value->getType());
    inputs_.push_back(value);
    return add(constraint);
  }
  std::string input(llvm::Value* value, const PtxForm& form) {
    if (value->getType() != form.type) value = builder_.CreateZExt(value, form.type);
    return input(value, form.constraint);
  }
  /// "@$3 ", nothing where the mask is known to hold. One that comes again is the same operand.
  std::string guard(llvm::Value* mask) {
    if (always(mask)) return {};
    std::string& name = guards_[mask];
    if (name.empty()) name = "@" + input(mask, "b") + " ";
    return name;
  }
  void line(const std::string& text) { text_ += (text_.empty() ? "" : "\n\t") + text + ";"; }

  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// The outputs' values.
  std::vector<llvm::Value*> place(bool has_side_effects) {
    llvm::LLVMContext& context = builder_.getContext();
    llvm::Type* result = llvm::Type::getVoidTy(context);
    if (outputs_.size() == 1) result = outputs_[0];
    if (outputs_.size() > 1) result = llvm::StructType::get(context, outputs_);
    auto* signature = llvm::FunctionType::get(result, types_, false);
    llvm::Value* call = builder_.CreateCall(
        llvm::InlineAsm::get(signature, text_, constraints_, has_side_effects), inputs_);
    if (outputs_.size() == 1) return {call};
    std::vector<llvm::Value*> values;
    for (unsigned i = 0; i < outputs_.size(); ++i) {
      values.push_back(builder_.CreateExtractValue(call, i));
    }
    return values;
  }

 private:
  std::string add(const std::string& constraint) {
    constraints_ += (constraints_.empty() ? "" : ",") + constraint;
    return "$" + std::to_string(count_++);
  }

  Builder& builder_;
  std::vector<llvm::Type*> outputs_;
  std::vector<llvm::Type*> types_;
  std::vector<llvm::Value*> inputs_;
  std::map<llvm::Value*, std::string> guards_;
  std::string constraints_;
  std::string text_;
  int count_ = 0;
};

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

std::string GlobalAccess::load_name(bool read_only) const {
  return std::string("ld.global") + (cache_ == ir::Cache::streaming ? ".cs" : "") +
         (read_only ? ".nc" : "");
}

std::string GlobalAccess::store_name() const {
  return cache_ == ir::Cache::streaming ? "st.global.cs" : "st.global";
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
  Assembly assembly(builder_);
  std::vector<std::string> results;
  for (std::size_t i = 0; i < word_count_; ++i) results.push_back(assembly.output(form));
  const std::string address = assembly.input(pointer, "l");
  const std::string guard = assembly.guard(mask);
  if (!guard.empty()) {
    const Values words = words_of(others);
    for (std::size_t i = 0; i < words.size(); ++i) {
      assembly.line("mov." + form.move + " " + results[i] + ", " + assembly.input(words[i], form));
    }
  }
  assembly.line(guard + load_name(read_only) + suffix() + " " + operands(results) + ", [" +
                address + "]");
  // Reads of what others may write keep their place among writes and barriers.
  Values words = assembly.place(/*has_side_effects=*/!read_only);
  for (Value*& word : words) {
    if (form.type != word_) word = builder_.CreateTrunc(word, word_);
  }
  return words;
}

void GlobalAccess::store(Value* pointer, Value* mask, const Values& elements) {
  if (never(mask)) return;
  const Values words = words_of(elements);
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
  Assembly assembly(builder_);
  const std::string address = assembly.input(pointer, "l");
  std::vector<std::string> names;
  for (Value* word : words) names.push_back(assembly.input(word, form));
  assembly.line(assembly.guard(mask) + store_name() + suffix() + " [" + address + "], " +
                operands(names));
  assembly.place(/*has_side_effects=*/true);
}

GlobalAccess::Values GlobalAccess::load_apart(Value* pointer, const Values& masks,
                                              const Values& others, bool read_only) {
  const PtxForm form = ptx_form(builder_, memory_type(builder_.getContext(), element_));
  Assembly assembly(builder_);
  std::vector<std::string> results;
  for (int i = 0; i < count_; ++i) results.push_back(assembly.output(form));
  const std::string address = assembly.input(pointer, "l");
  for (std::size_t i = 0; i < results.size(); ++i) {
    Value* mask = masks.empty() ? nullptr : masks[i];
    const bool read = !never(mask);
    const std::string guard = read ? assembly.guard(mask) : std::string();
    if (!read || !guard.empty()) {
      assembly.line("mov." + form.move + " " + results[i] + ", " +
                    assembly.input(to_memory(builder_, others[i]), form));
    }
    if (!read) continue;
    assembly.line(guard + load_name(read_only) + "." + form.suffix + " " + results[i] + ", " +
                  place(address, i));
  }
  Values elements = assembly.place(/*has_side_effects=*/!read_only);
  for (Value*& element : elements) element = from_memory(builder_, element_, element);
  return elements;
}

void GlobalAccess::store_apart(Value* pointer, const Values& masks, const Values& elements) {
  const PtxForm form = ptx_form(builder_, memory_type(builder_.getContext(), element_));
  Assembly assembly(builder_);
  const std::string address = assembly.input(pointer, "l");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Value* mask = masks.empty() ? nullptr : masks[i];
    if (never(mask)) continue;
    const std::string value = assembly.input(to_memory(builder_, elements[i]), form);
    assembly.line(assembly.guard(mask) + store_name() + "." + form.suffix + " " +
                  place(address, i) + ", " + value);
  }
  if (!assembly.empty()) assembly.place(/*has_side_effects=*/true);
}

std::string GlobalAccess::place(const std::string& address, std::size_t element) const {
  return "[" + address + "+" + std::to_string(element * static_cast<std::size_t>(element_bytes_)) +
         "]";
}

}  // namespace teeny::compiler::nvptx
