#include <llvm/IR/InlineAsm.h>

#include "compiler/nvptx/emitter.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::Op;
using ir::ValueId;

namespace {

/// How a type of memory is written in PTX: the suffixes of ld and st and of mov, and the
/// inline-assembly constraint and type of the register that holds it.
struct PtxForm {
  std::string suffix;
  std::string move;
  std::string constraint;
  llvm::Type* type;
};

PtxForm ptx_form(Builder& builder, llvm::Type* memory) {
  if (memory->isFloatTy()) return {"f32", "f32", "f", memory};
  if (memory->isDoubleTy()) return {"f64", "f64", "d", memory};
  switch (memory->getIntegerBitWidth()) {
    case 8:
      return {"u8", "b16", "h", builder.getInt16Ty()};
    case 16:
      return {"u16", "b16", "h", memory};
    case 32:
      return {"u32", "b32", "r", memory};
    default:
      return {"u64", "b64", "l", memory};
  }
}

bool always(llvm::Value* mask) {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask);
  return mask == nullptr || (known != nullptr && known->isOne());
}

bool never(llvm::Value* mask) {
  const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask);
  return known != nullptr && known->isZero();
}

}  // namespace

void Emitter::emit_load(const Op& op) {
  const ValueId result = op.results[0];
  // What is read through a pointer to const is written by nobody while the kernel runs.
  const bool read_only = type(op.operands[0]).read_only;
  if (!read_only && pending_.global_writes && !in_reduction_) barrier();
  if (!read_only) pending_.global_reads = true;

  const auto operand = [&](std::size_t i, LayoutId id, std::uint32_t reg) -> Value* {
    return i < op.operands.size() ? at(registers(op.operands[i], id), reg) : nullptr;
  };
  if (single(result)) {
    set_scalar(result, load_element(op, operand(0, 0, 0), operand(1, 0, 0), operand(2, 0, 0)));
    return;
  }
  const LayoutId home = plan_.home(result);
  Registers loaded;
  for (std::uint32_t reg = 0; reg < layout(home).register_count(); ++reg) {
    loaded.push_back(
        load_element(op, operand(0, home, reg), operand(1, home, reg), operand(2, home, reg)));
  }
  provide(result, home, std::move(loaded));
}

llvm::Value* Emitter::load_element(const Op& op, Value* pointer, Value* mask, Value* other) {
  const ir::Type element = ir::Type::scalar(type(op.results[0]).dtype);
  const bool read_only = type(op.operands[0]).read_only;
  llvm::Type* memory = memory_type(module_.getContext(), element);
  if (other == nullptr) other = constant(module_.getContext(), element.dtype, 0);
  if (never(mask)) return other;
  if (always(mask) && op.cache == ir::Cache::automatic) {
    llvm::LoadInst* load = builder_.CreateAlignedLoad(
        memory, pointer, llvm::Align(static_cast<std::uint64_t>(memory_bytes(element))));
    if (read_only) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(module_.getContext(), {}));
    }
    return from_memory(builder_, element, load);
  }
  // A predicated instruction: no branch, so that many loads are under way at a time.
  const PtxForm form = ptx_form(builder_, memory);
  std::string text;
  std::string constraints = "=&" + form.constraint + ",l";
  std::vector<llvm::Type*> types = {pointer->getType()};
  Values operands = {pointer};
  if (!always(mask)) {
    Value* fallback = to_memory(builder_, other);
    if (fallback->getType() != form.type) fallback = builder_.CreateZExt(fallback, form.type);
    text = "mov." + form.move + " $0, $3;\n\t@$2 ";
    constraints += ",b," + form.constraint;
    types.insert(types.end(), {mask->getType(), form.type});
    operands.insert(operands.end(), {mask, fallback});
  }
  text += "ld.global";
  if (op.cache == ir::Cache::streaming) text += ".cs";
  if (read_only) text += ".nc";
  text += "." + form.suffix + " $0, [$1];";
  auto* signature = llvm::FunctionType::get(form.type, types, false);
  // Reads of what others may write keep their place among writes and barriers.
  Value* loaded = builder_.CreateCall(
      llvm::InlineAsm::get(signature, text, constraints, /*hasSideEffects=*/!read_only), operands);
  if (form.type != memory) loaded = builder_.CreateTrunc(loaded, memory);
  return from_memory(builder_, element, loaded);
}

void Emitter::emit_store(const Op& op) {
  if (in_reduction_) {
    throw Error(ErrorKind::input,
                "kernel " + kernel_.name + ": the function of a reduction stores to memory",
                "Let it only combine its arguments.");
  }
  if (pending_.global_reads || pending_.global_writes) barrier();
  pending_.global_writes = true;

  const LayoutId id = plan_.working.at(&op);
  Value* speaker = speaks(layout(id));
  for (std::uint32_t reg = 0; reg < layout(id).register_count(); ++reg) {
    Value* mask = op.operands.size() > 2 ? at(registers(op.operands[2], id), reg) : nullptr;
    if (never(mask)) continue;
    if (always(mask)) {
      mask = speaker;
    } else if (speaker != nullptr) {
      mask = builder_.CreateAnd(mask, speaker);
    }
    store_element(op, at(registers(op.operands[0], id), reg),
                  at(registers(op.operands[1], id), reg), mask);
  }
}

void Emitter::store_element(const Op& op, Value* pointer, Value* value, Value* mask) {
  value = to_memory(builder_, value);
  llvm::Type* memory = value->getType();
  if (always(mask) && op.cache == ir::Cache::automatic) {
    builder_.CreateAlignedStore(
        value, pointer,
        llvm::Align(static_cast<std::uint64_t>(memory_bytes(type(op.operands[1])))));
    return;
  }
  const PtxForm form = ptx_form(builder_, memory);
  if (form.type != memory) value = builder_.CreateZExt(value, form.type);
  std::string text = "st.global";
  if (op.cache == ir::Cache::streaming) text += ".cs";
  text += "." + form.suffix + " [$0], $1;";
  std::string constraints = "l," + form.constraint;
  std::vector<llvm::Type*> types = {pointer->getType(), form.type};
  Values operands = {pointer, value};
  if (!always(mask)) {
    text = "@$2 " + text;
    constraints += ",b";
    types.push_back(mask->getType());
    operands.push_back(mask);
  }
  auto* signature = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(signature, text, constraints, /*hasSideEffects=*/true),
                      operands);
}

llvm::Value* Emitter::speaks(const LinearLayout& layout) {
  const std::uint32_t lanes = layout.free_lanes();
  const std::uint32_t warps = layout.free_warps();
  if (lanes == 0 && warps == 0) return nullptr;
  Value*& known = speakers_[{lanes, warps}];
  if (known == nullptr) {
    known = at_entry([&](Builder& builder) {
      Value* free = builder.CreateAnd(thread_, lanes | warps << LinearLayout::lane_bits);
      return builder.CreateICmpEQ(free, builder.getInt32(0));
    });
  }
  return known;
}

}  // namespace teeny::compiler::nvptx
