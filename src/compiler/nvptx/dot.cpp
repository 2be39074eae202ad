#include <bit>

#include "compiler/layout/runs.hpp"
#include "compiler/nvptx/emitter.hpp"

namespace teeny::compiler::nvptx {

using ir::Op;
using ir::ValueId;

// Both operands are put into shared memory, as the type that is accumulated in, so that an element
// is converted once and not by each thread that needs it; as they are, where that takes more shared
// memory than the chip has. A thread then takes the rows and columns of its part of the result from
// there, several steps of K at a time in one access of 16 bytes.
void Emitter::emit_dot(const Op& op) {
  const ir::Type& result = type(op.results[0]);
  const ir::Type& a_type = type(op.operands[0]);
  const std::int64_t depth = a_type.shape[1];
  const std::int64_t columns = result.shape[1];
  const std::int64_t rows = result.shape[0];
  const DType dtype = result.dtype;
  llvm::LLVMContext& context = module_.getContext();

  // Rows of A end in a gap, so that lanes that read the same column of different rows do so from
  // different banks.
  struct Staged {
    DType dtype;
    std::int64_t vector;  // elements of 16 bytes
    std::uint64_t a_bytes;
    std::uint64_t b_bytes;
  };
  const auto staged_as = [&](DType as) {
    const std::int64_t size = size_of(as);
    const std::int64_t vector = 16 / size;
    // What follows A begins at a multiple of the widest access.
    const std::int64_t a_bytes = (rows * (depth + vector) * size + 15) / 16 * 16;
    return Staged{as, vector, static_cast<std::uint64_t>(a_bytes),
                  static_cast<std::uint64_t>(depth * columns * size)};
  };
  Staged staged = staged_as(dtype);
  const CapabilityInfo* chip = find_capability(capability_);
  if (chip != nullptr && staged.a_bytes + staged.b_bytes >
                             1024 * static_cast<std::uint64_t>(chip->max_shared_per_block_kib)) {
    staged = staged_as(a_type.dtype);
  }
  const std::int64_t vector = staged.vector;
  const std::int64_t a_stride = depth + vector;
  const std::uint64_t a_bytes = staged.a_bytes;
  const std::int64_t bytes = size_of(staged.dtype);
  llvm::Type* element = register_type(context, ir::Type::scalar(staged.dtype));
  const auto [a_layout, b_layout] = plan_.dot_operands.at(&op);
  begin_shared(a_bytes + staged.b_bytes);
  stage(registers(op.operands[0], a_layout), layout(a_layout), a_type.shape, a_type.dtype,
        staged.dtype, 0, a_stride);
  stage(registers(op.operands[1], b_layout), layout(b_layout), type(op.operands[1]).shape,
        type(op.operands[1]).dtype, staged.dtype, a_bytes, columns);
  shared_written();

  // The rectangle of this thread: first row and column, and distances from there.
  const LayoutId working = plan_.working.at(&op);
  const LinearLayout& place_of = layout(working);
  const auto column_mask = static_cast<std::uint32_t>(columns - 1);
  const auto column_bits =
      static_cast<std::uint64_t>(std::countr_zero(static_cast<std::uint64_t>(columns)));
  Value* first = thread_part(place_of, nullptr);
  Value* first_row = builder_.CreateLShr(first, column_bits);
  Value* first_column = builder_.CreateAnd(first, builder_.getInt32(column_mask));
  std::vector<std::uint32_t> row_of;  // distinct rows and columns, ascending
  std::vector<std::uint32_t> column_of;
  for (std::uint32_t reg = 0; reg < place_of.register_count(); ++reg) {
    const std::uint32_t at_element = place_of.element(reg, 0, 0);
    if ((at_element & column_mask) == at_element) column_of.push_back(at_element);
    if ((at_element & column_mask) == 0) row_of.push_back(at_element >> column_bits);
  }
  std::size_t neighbours = 1;  // columns that one access can read
  while (neighbours < static_cast<std::size_t>(vector) && neighbours < column_of.size() &&
         column_of[neighbours] == neighbours) {
    neighbours *= 2;
  }

  // Steps of K in one round: enough to be worth the accesses, few enough to be compiled quickly.
  const std::int64_t at_once = std::min({vector, depth, std::int64_t{8}});
  llvm::Type* sum_type = register_type(context, ir::Type::scalar(dtype));
  const Registers& start = registers(op.operands[2], working);
  Registers sums;
  for (std::uint32_t reg = 0; reg < place_of.register_count(); ++reg)
    sums.push_back(at(start, reg));

  const auto load = [&](std::uint64_t offset, Index index, std::size_t count) {
    llvm::Type* what =
        count == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
    return builder_.CreateAlignedLoad(what, shared_address(offset, element, index),
                                      llvm::Align(count * static_cast<std::uint64_t>(bytes)));
  };
  const auto part = [&](Value* loaded, std::size_t i) {
    Value* one =
        loaded->getType()->isVectorTy() ? builder_.CreateExtractElement(loaded, i) : loaded;
    return ops_.cast(one, staged.dtype, dtype);
  };
  Value* a_row =
      builder_.CreateMul(first_row, builder_.getInt32(static_cast<std::uint32_t>(a_stride)));
  const auto steps = [&](Value* k) {
    Value* a_first = builder_.CreateAdd(a_row, k);
    Value* b_first = builder_.CreateAdd(builder_.CreateShl(k, column_bits), first_column);
    // What few values are used most often is kept; of the other operand a row at a time.
    std::vector<Values> b_rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(at_once); ++i) {
      const auto b_row = static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(columns);
      Values b_columns;
      for (std::size_t c = 0; c < column_of.size(); c += neighbours) {
        Value* loaded = load(a_bytes, {b_first, b_row + column_of[c]}, neighbours);
        for (std::size_t j = 0; j < neighbours; ++j) b_columns.push_back(part(loaded, j));
      }
      b_rows.push_back(std::move(b_columns));
    }
    for (const std::uint32_t row : row_of) {
      Value* a_row_part = load(0, {a_first, row * static_cast<std::uint32_t>(a_stride)},
                               static_cast<std::size_t>(at_once));
      for (std::size_t i = 0; i < b_rows.size(); ++i) {
        Value* a = part(a_row_part, i);
        for (std::size_t c = 0; c < column_of.size(); ++c) {
          const auto reg = place_of.register_of(row << column_bits | column_of[c]);
          Value*& sum = sums[reg.value()];
          sum = is_float(dtype) ? builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum_type},
                                                           {a, b_rows[i][c], sum})
                                : builder_.CreateAdd(builder_.CreateMul(a, b_rows[i][c]), sum);
        }
      }
    }
  };

  if (at_once == depth) {
    steps(builder_.getInt32(0));
  } else {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* loop = new_block();
    llvm::BasicBlock* after = new_block();
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* k = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    k->addIncoming(builder_.getInt32(0), before);
    std::vector<llvm::PHINode*> phis;
    for (Value*& sum : sums) {
      phis.push_back(builder_.CreatePHI(sum_type, 2));
      phis.back()->addIncoming(sum, before);
      sum = phis.back();
    }
    steps(k);
    Value* next = builder_.CreateAdd(k, builder_.getInt32(static_cast<std::uint32_t>(at_once)));
    Value* more = builder_.CreateICmpNE(next, builder_.getInt32(static_cast<std::uint32_t>(depth)));
    llvm::BranchInst* branch = builder_.CreateCondBr(more, loop, after);
    // The assembler unrolls as it sees fit; here it would only take time.
    llvm::Metadata* unroll =
        llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, unroll});
    id->replaceOperandWith(0, id);
    branch->setMetadata(llvm::LLVMContext::MD_loop, id);
    k->addIncoming(next, loop);
    for (std::size_t i = 0; i < sums.size(); ++i) phis[i]->addIncoming(sums[i], loop);
    builder_.SetInsertPoint(after);
  }
  provide(op.results[0], working, std::move(sums));
}

// Neighbours along a row, that a thread holds as neighbours in memory, go in one access.
void Emitter::stage(const Registers& registers, const LinearLayout& layout, const ir::Shape& shape,
                    DType from, DType to, std::uint64_t offset, std::int64_t row_stride) {
  llvm::Type* element = register_type(module_.getContext(), ir::Type::scalar(to));
  const std::int64_t columns = shape[1];
  const auto column_bits =
      static_cast<std::uint64_t>(std::countr_zero(static_cast<std::uint64_t>(columns)));
  const std::int64_t gap = row_stride - columns;
  const int most = std::countr_zero(static_cast<unsigned>(16 / size_of(to)));
  const int bits = std::min(most, run_bits(layout, shape, 1));
  for (const auto& run : runs_of(layout, shape, 1, bits)) {
    Index index = place(layout, nullptr, layout.element(run.front(), 0, 0));
    if (gap != 0) {
      // The two parts of the element have no bit in common, nor have those of its row.
      Value* row = builder_.CreateLShr(index.computed, column_bits);
      index.computed = builder_.CreateAdd(
          index.computed,
          builder_.CreateMul(row, builder_.getInt32(static_cast<std::uint32_t>(gap))));
      index.known += (index.known >> column_bits) * static_cast<std::uint32_t>(gap);
    }
    Value* all = ops_.cast(at(registers, run.front()), from, to);
    if (bits > 0) {
      Value* first = all;
      auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(run.size()));
      all = builder_.CreateInsertElement(llvm::PoisonValue::get(vector), first, std::uint64_t{0});
      for (std::size_t i = 1; i < run.size(); ++i) {
        all = builder_.CreateInsertElement(all, ops_.cast(at(registers, run[i]), from, to), i);
      }
    }
    builder_.CreateAlignedStore(all, shared_address(offset, element, index),
                                llvm::Align(static_cast<std::uint64_t>(size_of(to)) << bits));
  }
}

}  // namespace teeny::compiler::nvptx
