#pragma once

#include <functional>
#include <map>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/layout/conversion.hpp"
#include "compiler/nvptx/global_access.hpp"
#include "compiler/nvptx/layout_plan.hpp"
#include "compiler/nvptx/scalar.hpp"
#include "compiler/passes/axis_analysis.hpp"

#include "teeny/ir/kernel.hpp"
#include "teeny/target/capability.hpp"

namespace teeny::compiler::nvptx {

/// Writes one prepared kernel into an LLVM module as a function of NVPTX.
///
/// A tile is a list of LLVM values for each layout that the plan wants it in: one value a register,
/// each standing for what the thread at hand has there. Scalars are one value that all threads of a
/// block agree on; that is why branches and loops, which depend on scalars only, may hold barriers.
class Emitter {
 public:
  Emitter(llvm::Module& module, const ir::Kernel& kernel, Capability capability);

  /// Adds the function. Error(input) for a tile that is too large for the threads of a block.
  void emit();
  /// Dynamic shared memory that a block needs, known after `emit`.
  [[nodiscard]] std::uint64_t shared_bytes() const noexcept { return shared_bytes_; }

 private:
  using Value = llvm::Value;
  using Registers = std::vector<Value*>;
  using Values = std::vector<Value*>;

  // Function, threads, blocks (emitter.cpp)
  void begin_function();
  void check_register_counts() const;
  void emit_block(const ir::Block& block);
  void emit_op(const ir::Op& op);
  /// Something that depends on the thread alone, computed at the beginning of the function.
  Value* at_entry(const std::function<Value*(Builder&)>& compute);
  llvm::BasicBlock* new_block();

  // Values (values.cpp)
  [[nodiscard]] const ir::Type& type(ir::ValueId value) const { return kernel_.type(value); }
  [[nodiscard]] const LinearLayout& layout(LayoutId id) const { return plan_.table[id]; }
  [[nodiscard]] bool single(ir::ValueId value) const { return type(value).count() == 1; }
  [[nodiscard]] Value* scalar(ir::ValueId value) const;
  void set_scalar(ir::ValueId value, Value* to);
  /// The registers of a value in a layout; one for all, where it has one element.
  [[nodiscard]] const Registers& registers(ir::ValueId value, LayoutId layout) const;
  [[nodiscard]] static Value* at(const Registers& registers, std::uint32_t reg) {
    return registers.size() == 1 ? registers[0] : registers[reg];
  }
  /// Makes a value known that was computed in `layout`, in every layout that is wanted.
  void provide(ir::ValueId value, LayoutId layout, Registers registers);
  void emit_pointwise(const ir::Op& op);
  Registers pointwise(const ir::Op& op, LayoutId layout);
  Registers moved(const ir::Op& op, LayoutId layout);
  Registers arange(const ir::Op& op, LayoutId layout);
  /// An index of which one part is computed and the other known: their sum.
  struct Index {
    Value* computed;
    std::uint32_t known;
  };
  /// map(element of this thread in register 0): an i32. No map: the element itself.
  Value* thread_part(const LinearLayout& layout, const BitMatrix* map);
  /// map(element of this thread in the register where thread 0 has `element`).
  Index place(const LinearLayout& layout, const BitMatrix* map, std::uint32_t element);

  // Moving between threads (convert.cpp)
  Registers convert(const ir::Type& element, const Registers& from, LayoutId old, LayoutId wanted);
  Registers convert_by_shuffle(const Conversion& plan, const Registers& from);
  Registers convert_by_shared(const ir::Type& element, const Registers& from,
                              const LinearLayout& old, const LinearLayout& wanted);
  Value* shuffle(Value* value, Value* lane);
  Value* shuffle_butterfly(Value* value, int lane_bit);
  Value* shuffle_words(Value* value, const std::function<Value*(Value*)>& shuffle_word);

  // Shared memory and barriers (convert.cpp)
  /// Reserves the scratch area for one use: earlier uses are over in all threads.
  void begin_shared(std::uint64_t bytes);
  /// What was written into it can be read from here on.
  void shared_written();
  /// Of the element at an index, in an array that begins at `offset` bytes.
  Value* shared_address(std::uint64_t offset, llvm::Type* element, Index index);
  void barrier();

  // Global memory (memory.cpp)
  /// Registers that hold neighbours in memory, 2^bits along an axis to each run of them.
  struct Runs {
    int axis = 0;
    int bits = 0;          ///< 0: there are none, each element is accessed alone
    bool straight = true;  ///< no index of a run goes over the end of its integers
    std::vector<std::vector<std::uint32_t>> registers = {};
  };
  /// The runs that a load or store in that layout can be made of, if alignment and mask allow it
  /// when the kernel runs: that is what the next two tell.
  [[nodiscard]] Runs access_runs(const ir::Op& op, LayoutId layout) const;
  Value* runs_are_aligned(const ir::Op& op, LayoutId layout, const Runs& runs);
  Value* runs_are_masked_alike(const ir::Op& op, LayoutId layout, const Runs& runs);
  /// Whether a scalar's address is a multiple of `bytes`.
  Value* aligned(ir::ValueId pointer, int bytes);
  void either(Value* condition, const std::function<void()>& usual,
              const std::function<void()>& otherwise);
  /// A load or store of 2^bits elements.
  GlobalAccess access_of(const ir::Op& op, int bits);
  /// Loads that stand next to each other and do not depend on one another.
  void emit_loads(const std::vector<const ir::Op*>& loads);
  struct PlannedLoad {
    const ir::Op* op;
    LayoutId id;
    Runs runs;
    Registers loaded;
  };
  /// By run where `good` holds, else by element.
  void load_runs(const std::vector<PlannedLoad*>& loads, Value* good);
  Value* load_element(const ir::Op& op, LayoutId layout, std::uint32_t reg);
  Values load_words(const ir::Op& op, LayoutId layout, const std::vector<std::uint32_t>& run);
  /// The elements of a run by one instruction each.
  Values load_apart(const PlannedLoad& load, const std::vector<std::uint32_t>& run);
  /// Whether the elements of a run, accessed one by one, share a piece of assembly.
  [[nodiscard]] bool goes_apart(const ir::Op& op, const Runs& runs) const;
  /// What is read where a mask is false.
  Value* other_of(const ir::Op& op, LayoutId layout, std::uint32_t reg);
  void emit_store(const ir::Op& op);
  /// By run where `together`, else by one instruction an element.
  void store_tile(const ir::Op& op, LayoutId layout, const Runs& runs, bool together,
                  Value* speaker);
  /// True in the one thread of those with the same elements that speaks for them; nullptr: in all.
  Value* speaks(const LinearLayout& layout);

  // reduce.cpp
  void emit_reduce(const ir::Op& op);
  Values combine(const ir::Op& op, const Values& left, const Values& right);
  void reduce_registers(const ir::Op& op, const LinearLayout& from, const LinearLayout& to,
                        std::vector<Registers>& tiles);
  void reduce_lanes(const ir::Op& op, std::uint32_t lane_mask, std::vector<Registers>& tiles);
  void reduce_warps(const ir::Op& op, const LinearLayout& to, std::uint32_t warp_mask,
                    std::vector<Registers>& tiles);

  // dot.cpp
  void emit_dot(const ir::Op& op);
  void stage(const Registers& registers, const LinearLayout& layout, const ir::Shape& shape,
             DType from, DType to, std::uint64_t offset, std::int64_t row_stride);

  // control.cpp
  void emit_fold(const ir::Op& op);
  void emit_if(const ir::Op& op);
  std::vector<Registers> yielded(const ir::Op& op, const ir::Block& region);

  llvm::Module& module_;
  const ir::Kernel& kernel_;
  Capability capability_;
  AxisAnalysis axes_;
  LayoutPlan plan_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::GlobalVariable* shared_ = nullptr;
  Builder builder_;
  ScalarOps ops_;
  Value* thread_ = nullptr;
  Value* lane_ = nullptr;
  Value* warp_ = nullptr;

  /// By value, by position in plan_.layouts[value]; of a value of one element the one at 0.
  std::vector<std::vector<Registers>> values_;
  std::map<std::vector<std::uint32_t>, Value*> thread_parts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Value*> speakers_;
  std::map<std::pair<ir::ValueId, int>, Value*> aligned_;  ///< parameters, by how many bytes

  std::uint64_t shared_bytes_ = 0;
  // What other threads may still be doing since the last barrier.
  struct Pending {
    bool global_reads = false;
    bool global_writes = false;
    bool shared_reads = false;
    void add(const Pending& other) {
      global_reads |= other.global_reads;
      global_writes |= other.global_writes;
      shared_reads |= other.shared_reads;
    }
  };
  Pending pending_;
  /// What a region may leave pending.
  [[nodiscard]] Pending pending_of(const ir::Block& block) const;
  bool in_reduction_ = false;  ///< values differ between threads: no barrier, no shuffle
};

}  // namespace teeny::compiler::nvptx
