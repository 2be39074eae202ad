#include <algorithm>
#include <bit>

#include <llvm/IR/MDBuilder.h>

#include "compiler/layout/runs.hpp"
#include "compiler/nvptx/emitter.hpp"

#include "teeny/base/error.hpp"

namespace teeny::compiler::nvptx {

using ir::no_value;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

namespace {

int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }

ValueId mask_of(const Op& op) {
  const std::size_t place = op.code == Opcode::load ? 1 : 2;
  return op.operands.size() > place ? op.operands[place] : no_value;
}

}  // namespace

Emitter::Runs Emitter::access_runs(const Op& op, LayoutId id) const {
  const ValueId pointer = op.operands[0];
  const ir::Shape& shape = type(pointer).shape;
  const int most = log2_of(max_access_bytes / size_of(type(pointer).dtype));
  Runs runs;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    const int contiguous = axes_.of(pointer)[static_cast<std::size_t>(axis)].contiguous;
    const int bits = std::min({most, contiguous, run_bits(layout(id), shape, axis)});
    if (bits > 0 && bits >= runs.bits) runs = {axis, bits};
  }
  if (runs.bits > 0) {
    const AxisFacts& facts = axes_.of(pointer)[static_cast<std::size_t>(runs.axis)];
    runs.straight = !may_wrap(facts, runs.bits, log2_of(size_of(type(pointer).dtype)));
    runs.registers = runs_of(layout(id), shape, runs.axis, runs.bits);
  }
  return runs;
}

llvm::Value* Emitter::aligned(ValueId pointer, int bytes) {
  const auto test = [&](Builder& builder) {
    Value* low = builder.CreatePtrToInt(scalar(pointer), builder.getInt32Ty());
    low = builder.CreateAnd(low, static_cast<std::uint64_t>(bytes - 1));
    return builder.CreateICmpEQ(low, builder.getInt32(0));
  };
  const auto& parameters = kernel_.body.arguments;
  if (std::find(parameters.begin(), parameters.end(), pointer) == parameters.end()) {
    return test(builder_);
  }
  Value*& known = aligned_[{pointer, bytes}];
  if (known == nullptr) known = at_entry(test);
  return known;
}

llvm::Value* Emitter::runs_are_aligned(const Op& op, LayoutId id, const Runs& runs) {
  const ValueId pointer = op.operands[0];
  const AxisFacts& facts = axes_.of(pointer)[static_cast<std::size_t>(runs.axis)];
  const int element_bytes = size_of(type(pointer).dtype);
  const int element_bits = log2_of(element_bytes);
  const int bytes = element_bytes << runs.bits;
  const Registers& pointers = registers(pointer, id);
  const auto address = [&](std::uint32_t reg, llvm::Type* as) {
    return builder_.CreatePtrToInt(at(pointers, reg), as);
  };
  Value* good = nullptr;
  if (axes_.root(pointer) != no_value &&
      divisible_at(facts, runs.bits, element_bits) >= runs.bits + element_bits) {
    good = aligned(axes_.root(pointer), bytes);
  } else {
    Value* low = builder_.getInt32(0);
    for (const auto& run : runs.registers) {
      low = builder_.CreateOr(low, address(run.front(), builder_.getInt32Ty()));
    }
    low = builder_.CreateAnd(low, builder_.getInt32(static_cast<std::uint32_t>(bytes - 1)));
    good = builder_.CreateICmpEQ(low, builder_.getInt32(0));
  }
  if (runs.straight) return good;
  // An index that goes over the end of its integers goes on far away.
  for (const auto& run : runs.registers) {
    Value* length = builder_.CreateSub(address(run.back(), builder_.getInt64Ty()),
                                       address(run.front(), builder_.getInt64Ty()));
    Value* whole = builder_.CreateICmpEQ(
        length, builder_.getInt64(static_cast<std::uint64_t>(bytes - element_bytes)));
    good = builder_.CreateAnd(good, whole);
  }
  return good;
}

llvm::Value* Emitter::runs_are_masked_alike(const Op& op, LayoutId id, const Runs& runs) {
  Value* good = builder_.getTrue();
  const ValueId mask = mask_of(op);
  if (mask == no_value) return good;
  const AxisFacts& facts = axes_.of(mask)[static_cast<std::size_t>(runs.axis)];
  if (facts.constant >= runs.bits) return good;
  const Registers& masks = registers(mask, id);
  for (const auto& run : runs.registers) {
    Value* alike = nullptr;
    if (facts.falling >= runs.bits) {
      alike = builder_.CreateICmpEQ(at(masks, run.front()), at(masks, run.back()));
    } else {
      Value* all = builder_.getTrue();
      Value* some = builder_.getFalse();
      for (const std::uint32_t reg : run) {
        all = builder_.CreateAnd(all, at(masks, reg));
        some = builder_.CreateOr(some, at(masks, reg));
      }
      alike = builder_.CreateOr(all, builder_.CreateNot(some));
    }
    good = builder_.CreateAnd(good, alike);
  }
  return good;
}

void Emitter::either(Value* condition, const std::function<void()>& usual,
                     const std::function<void()>& otherwise) {
  llvm::BasicBlock* yes = new_block();
  llvm::BasicBlock* no = new_block();
  llvm::BasicBlock* after = new_block();
  llvm::MDBuilder metadata(module_.getContext());
  builder_.CreateCondBr(condition, yes, no, metadata.createBranchWeights(1000, 1));
  builder_.SetInsertPoint(yes);
  usual();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(no);
  otherwise();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

GlobalAccess Emitter::access_of(const Op& op, int bits) {
  const DType dtype = type(op.operands[op.code == Opcode::load ? 0 : 1]).dtype;
  return GlobalAccess(builder_, dtype, 1 << bits, op.cache);
}

bool Emitter::goes_apart(const Op& op, const Runs& runs) const {
  return runs.straight && size_of(type(op.operands[0]).dtype) >= 4;
}

llvm::Value* Emitter::load_element(const Op& op, LayoutId id, std::uint32_t reg) {
  GlobalAccess access = access_of(op, 0);
  return access.elements_of(load_words(op, id, {reg}))[0];
}

llvm::Value* Emitter::other_of(const Op& op, LayoutId id, std::uint32_t reg) {
  if (op.operands.size() > 2) return at(registers(op.operands[2], id), reg);
  return constant(module_.getContext(), type(op.results[0]).dtype, 0);
}

Emitter::Values Emitter::load_words(const Op& op, LayoutId id,
                                    const std::vector<std::uint32_t>& run) {
  const ValueId mask = mask_of(op);
  Values others;
  for (const std::uint32_t reg : run) others.push_back(other_of(op, id, reg));
  return access_of(op, log2_of(static_cast<int>(run.size())))
      .load(at(registers(op.operands[0], id), run.front()),
            mask == no_value ? nullptr : at(registers(mask, id), run.front()), others,
            type(op.operands[0]).read_only);
}

Emitter::Values Emitter::load_apart(const PlannedLoad& load,
                                    const std::vector<std::uint32_t>& run) {
  const Op& op = *load.op;
  Values elements;
  if (!goes_apart(op, load.runs)) {
    for (const std::uint32_t reg : run) elements.push_back(load_element(op, load.id, reg));
    return elements;
  }
  const ValueId mask = mask_of(op);
  Values masks;
  Values others;
  for (const std::uint32_t reg : run) {
    if (mask != no_value) masks.push_back(at(registers(mask, load.id), reg));
    others.push_back(other_of(op, load.id, reg));
  }
  return access_of(op, load.runs.bits)
      .load_apart(at(registers(op.operands[0], load.id), run.front()), masks, others,
                  type(op.operands[0]).read_only);
}

// All that is to be known before any of the loads is known first, so that one branch leads to all
// of them, and none waits for another. Both ways give words, which small elements share.
void Emitter::load_runs(const std::vector<PlannedLoad*>& loads, Value* good) {
  llvm::BasicBlock* ends[2] = {};
  Values words[2];
  const auto each_run = [&](const auto& load) {
    for (PlannedLoad* one : loads) {
      for (const auto& run : one->runs.registers) load(*one, run);
    }
  };
  either(
      good,
      [&] {
        each_run([&](const PlannedLoad& load, const std::vector<std::uint32_t>& run) {
          const Values loaded = load_words(*load.op, load.id, run);
          words[0].insert(words[0].end(), loaded.begin(), loaded.end());
        });
        ends[0] = builder_.GetInsertBlock();
      },
      [&] {
        Values elements;
        each_run([&](const PlannedLoad& load, const std::vector<std::uint32_t>& run) {
          const Values loaded = load_apart(load, run);
          elements.insert(elements.end(), loaded.begin(), loaded.end());
        });
        auto next = elements.begin();
        each_run([&](const PlannedLoad& load, const std::vector<std::uint32_t>& run) {
          const auto end = next + static_cast<std::ptrdiff_t>(run.size());
          const Values packed = access_of(*load.op, load.runs.bits).words_of({next, end});
          words[1].insert(words[1].end(), packed.begin(), packed.end());
          next = end;
        });
        ends[1] = builder_.GetInsertBlock();
      });
  Values joined;
  for (std::size_t i = 0; i < words[0].size(); ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(words[0][i]->getType(), 2);
    for (const std::size_t side : {0U, 1U}) phi->addIncoming(words[side][i], ends[side]);
    joined.push_back(phi);
  }
  auto next = joined.begin();
  each_run([&](PlannedLoad& load, const std::vector<std::uint32_t>& run) {
    GlobalAccess access = access_of(*load.op, load.runs.bits);
    const auto end = next + static_cast<std::ptrdiff_t>(access.word_count());
    const Values elements = access.elements_of({next, end});
    next = end;
    for (std::size_t i = 0; i < run.size(); ++i) load.loaded[run[i]] = elements[i];
  });
}

void Emitter::emit_loads(const std::vector<const Op*>& loads) {
  std::vector<PlannedLoad> planned;
  bool waits = false;
  for (const Op* op : loads) {
    // What is read through a pointer to const is written by nobody while the kernel runs.
    if (!type(op->operands[0]).read_only) waits = true;
    if (single(op->results[0])) {
      planned.push_back({op, LayoutId{0}, {}, Registers(1)});
      continue;
    }
    const LayoutId id = plan_.home(op->results[0]);
    planned.push_back({op, id, access_runs(*op, id), Registers(layout(id).register_count())});
  }
  if (waits && pending_.global_writes && !in_reduction_) barrier();
  if (waits) pending_.global_reads = true;

  Value* good = builder_.getTrue();
  std::vector<PlannedLoad*> by_run;
  for (PlannedLoad& load : planned) {
    if (load.runs.bits > 0) {
      Value* alike = runs_are_masked_alike(*load.op, load.id, load.runs);
      if (!never(alike)) {
        good = builder_.CreateAnd(good, alike);
        good = builder_.CreateAnd(good, runs_are_aligned(*load.op, load.id, load.runs));
        by_run.push_back(&load);
        continue;
      }
    }
    for (std::uint32_t reg = 0; reg < load.loaded.size(); ++reg) {
      load.loaded[reg] = load_element(*load.op, load.id, reg);
    }
  }
  if (!by_run.empty()) load_runs(by_run, good);
  for (PlannedLoad& load : planned) provide(load.op->results[0], load.id, std::move(load.loaded));
}

void Emitter::emit_store(const Op& op) {
  if (in_reduction_) {
    throw Error(ErrorKind::input,
                "kernel " + kernel_.name + ": the function of a reduction stores to memory",
                "let it only combine its arguments");
  }
  if (pending_.global_reads || pending_.global_writes) barrier();
  pending_.global_writes = true;

  const LayoutId id = plan_.working.at(&op);
  Value* speaker = speaks(layout(id));
  const Runs runs = single(op.operands[0]) ? Runs{} : access_runs(op, id);
  Value* good = builder_.getFalse();
  if (runs.bits > 0) {
    good = builder_.CreateAnd(runs_are_masked_alike(op, id, runs), runs_are_aligned(op, id, runs));
  }
  if (never(good)) return store_tile(op, id, {}, false, speaker);
  either(
      good, [&] { store_tile(op, id, runs, true, speaker); },
      [&] { store_tile(op, id, goes_apart(op, runs) ? runs : Runs{}, false, speaker); });
}

void Emitter::store_tile(const Op& op, LayoutId id, const Runs& runs, bool together,
                         Value* speaker) {
  GlobalAccess access = access_of(op, runs.bits);
  const ValueId masked_by = mask_of(op);
  const auto mask_at = [&](std::uint32_t reg) -> Value* {
    Value* mask = masked_by != no_value ? at(registers(masked_by, id), reg) : nullptr;
    if (speaker == nullptr || never(mask)) return mask;
    return always(mask) ? speaker : builder_.CreateAnd(mask, speaker);
  };
  const auto store = [&](const std::vector<std::uint32_t>& run) {
    Value* pointer = at(registers(op.operands[0], id), run.front());
    Values elements;
    for (const std::uint32_t reg : run) elements.push_back(at(registers(op.operands[1], id), reg));
    if (together || run.size() == 1) return access.store(pointer, mask_at(run.front()), elements);
    Values masks;
    for (const std::uint32_t reg : run) masks.push_back(mask_at(reg));
    access.store_apart(pointer, masks, elements);
  };
  if (runs.bits > 0) {
    for (const auto& run : runs.registers) store(run);
  } else {
    for (std::uint32_t reg = 0; reg < layout(id).register_count(); ++reg) store({reg});
  }
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
