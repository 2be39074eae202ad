#include "compiler/nvptx/emitter.hpp"

namespace teeny::compiler::nvptx {

using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::ValueId;

Emitter::Pending Emitter::pending_of(const Block& block) const {
  Pending pending;
  for (const Op& op : block.ops) {
    if (op.code == Opcode::store) pending.global_writes = true;
    if (op.code == Opcode::load && !type(op.operands[0]).read_only) pending.global_reads = true;
    // Whether tiles go through shared memory is seen when they do; until then they might.
    for (const ValueId result : op.results) pending.shared_reads |= !single(result);
    pending.shared_reads |= op.code == Opcode::reduce;
    for (const Block& region : op.regions) pending.add(pending_of(region));
  }
  return pending;
}

std::vector<Emitter::Registers> Emitter::yielded(const Op& op, const Block& region) {
  std::vector<Registers> all;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId value = region.ops.back().operands[i];
    all.push_back(single(value) ? Registers{scalar(value)}
                                : registers(value, plan_.home(op.results[i])));
  }
  return all;
}

void Emitter::emit_fold(const Op& op) {
  const Block& body = op.regions[0];
  const DType counter = type(op.operands[0]).dtype;
  Value* low = scalar(op.operands[0]);
  Value* high = scalar(op.operands[1]);
  Value* step = scalar(op.operands[2]);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = new_block();
  llvm::BasicBlock* after = new_block();
  Value* any = is_signed_int(counter) ? builder_.CreateICmpSLT(low, high)
                                      : builder_.CreateICmpULT(low, high);
  builder_.CreateCondBr(any, loop, after);

  std::vector<Registers> inits;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId init = op.operands[3 + i];
    if (single(init)) {
      inits.push_back({scalar(init)});
      continue;
    }
    const LayoutId home = plan_.home(op.results[i]);
    const Registers& have = registers(init, home);
    Registers all;
    for (std::uint32_t reg = 0; reg < layout(home).register_count(); ++reg) {
      all.push_back(at(have, reg));
    }
    inits.push_back(std::move(all));
  }

  // Threads may be in different rounds between two barriers.
  const Pending unless_run = pending_;
  pending_.add(pending_of(body));

  builder_.SetInsertPoint(loop);
  llvm::PHINode* index = builder_.CreatePHI(low->getType(), 2);
  index->addIncoming(low, before);
  std::vector<std::vector<llvm::PHINode*>> carried;
  for (const Registers& init : inits) {
    std::vector<llvm::PHINode*> phis;
    for (Value* value : init) {
      phis.push_back(builder_.CreatePHI(value->getType(), 2));
      phis.back()->addIncoming(value, before);
    }
    carried.push_back(std::move(phis));
  }
  set_scalar(body.arguments[0], index);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Registers now(carried[i].begin(), carried[i].end());
    const ValueId argument = body.arguments[1 + i];
    const LayoutId home = single(argument) ? LayoutId{0} : plan_.home(argument);
    provide(argument, home, now);
  }
  emit_block(body);
  const std::vector<Registers> next = yielded(op, body);
  // Counting by what is left cannot run over the end of the integers.
  Value* more = builder_.CreateICmpUGT(builder_.CreateSub(high, index), step);
  Value* next_index = builder_.CreateAdd(index, step);
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  builder_.CreateCondBr(more, loop, after);
  index->addIncoming(next_index, end);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    for (std::size_t reg = 0; reg < carried[i].size(); ++reg) {
      carried[i][reg]->addIncoming(at(next[i], static_cast<std::uint32_t>(reg)), end);
    }
  }
  pending_.add(unless_run);

  builder_.SetInsertPoint(after);
  std::vector<Registers> results;
  for (std::size_t i = 0; i < inits.size(); ++i) {
    Registers all;
    for (std::size_t reg = 0; reg < inits[i].size(); ++reg) {
      llvm::PHINode* phi = builder_.CreatePHI(inits[i][reg]->getType(), 2);
      phi->addIncoming(inits[i][reg], before);
      phi->addIncoming(at(next[i], static_cast<std::uint32_t>(reg)), end);
      all.push_back(phi);
    }
    results.push_back(std::move(all));
  }
  // All of them, before anything else is written into the block.
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId result = op.results[i];
    provide(result, single(result) ? LayoutId{0} : plan_.home(result), std::move(results[i]));
  }
}

void Emitter::emit_if(const Op& op) {
  llvm::BasicBlock* yes = new_block();
  llvm::BasicBlock* no = new_block();
  llvm::BasicBlock* after = new_block();
  builder_.CreateCondBr(scalar(op.operands[0]), yes, no);
  const Pending before = pending_;

  const auto branch = [&](llvm::BasicBlock* block, const Block& region) {
    builder_.SetInsertPoint(block);
    pending_ = before;
    emit_block(region);
    auto values = yielded(op, region);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    return std::pair(std::move(values), end);
  };
  const auto [from_yes, yes_end] = branch(yes, op.regions[0]);
  const Pending after_yes = pending_;
  const auto [from_no, no_end] = branch(no, op.regions[1]);
  pending_.add(after_yes);

  builder_.SetInsertPoint(after);
  std::vector<Registers> results;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = op.results[i];
    const std::uint32_t count = single(result) ? 1 : layout(plan_.home(result)).register_count();
    Registers all;
    for (std::uint32_t reg = 0; reg < count; ++reg) {
      Value* a = at(from_yes[i], reg);
      llvm::PHINode* phi = builder_.CreatePHI(a->getType(), 2);
      phi->addIncoming(a, yes_end);
      phi->addIncoming(at(from_no[i], reg), no_end);
      all.push_back(phi);
    }
    results.push_back(std::move(all));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueId result = op.results[i];
    provide(result, single(result) ? LayoutId{0} : plan_.home(result), std::move(results[i]));
  }
}

}  // namespace teeny::compiler::nvptx
