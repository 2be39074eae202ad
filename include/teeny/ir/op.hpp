#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "teeny/ir/type.hpp"

namespace teeny::ir {

/// What an operation does. Elementwise operations take operands of one shape; the language
/// broadcasts before it records.
///
/// Semantics shared by every backend, so that a CPU result is the oracle of a GPU one:
///  * integers wrap; x / 0 and x % 0 are 0, lowest / -1 wraps, division truncates towards zero and
///    the remainder has the sign of the dividend;
///  * a shift by the width or more gives 0 (arithmetic right shift: the sign everywhere); the
///    amount is read as unsigned; `shr` is arithmetic for signed dtypes, logical for unsigned ones;
///  * float -> int saturates and NaN gives 0; int -> float and float -> narrower float round to
///    nearest even; anything -> bool is `!= 0`; bool -> number is 0 or 1;
///  * minimum and maximum propagate NaN, as NumPy's do; comparisons with NaN are false but for
///  `ne`;
///  * f16 and bf16 arithmetic is done in f32 and rounded after each operation;
///  * a masked-off load gives `other`, or zero when there is none; nothing outside a mask is
///  touched;
///  * fma rounds once; other operations are never contracted into one.
enum class Opcode : std::uint8_t {
  // Leaves.
  constant,      ///< splat of `bits`; result type stated
  program_id,    ///< i32 scalar: position in the grid along axis `index` (0 to 2)
  num_programs,  ///< i32 scalar: extent of the grid along axis `index`
  arange,        ///< i32[N]: index, index + 1, ..., index + N - 1; result type stated

  // Conversions; result type stated, of the operand's shape.
  cast,
  bitcast,  ///< same width of element

  // Unary, elementwise.
  neg,      ///< integers, floats
  abs,      ///< integers, floats; of the lowest integer: itself
  bit_not,  ///< integers, bool
  exp,      ///< this and all below: floats
  exp2,
  log,
  log2,
  sqrt,
  rsqrt,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  floor,
  ceil,
  round,  ///< half to even

  // Binary, elementwise, both operands of one type.
  add,  ///< this and all to maximum: integers, floats
  sub,
  mul,
  div,
  rem,  ///< floats: C's fmod
  minimum,
  maximum,
  bit_and,  ///< this and the next two: integers, bool
  bit_or,
  bit_xor,
  shl,      ///< integers
  shr,      ///< integers
  umulhi,   ///< high half of the product: u32, u64
  compare,  ///< `predicate`: integers, floats, bool; result bool

  // Ternary, elementwise.
  select,  ///< bool, a, b (pointers too): where
  fma,     ///< a * b + c: floats

  // Shape; of elements and of pointers.
  reshape,    ///< row-major order kept; result type stated
  broadcast,  ///< same rank, extents of 1 repeated; or a scalar to any shape; result type stated
  permute,    ///< result extent d is operand extent dims[d]

  // Memory, in program order.
  offset,  ///< pointers + integers (i32 or i64), in elements; same shape
  load,    ///< pointers [, mask bool [, other]]; same shape
  store,   ///< pointers, values [, mask]; no result
  /// base, r extents, r strides, r offsets (i64 scalars; strides in elements); out-of-bounds
  /// elements
  /// are `bits`; result type stated (rank r, at least 1)
  load_view,
  /// base, r extents, r strides, r offsets, values of rank r; out-of-bounds elements are not
  /// written
  store_view,

  // Matrix.
  dot,  ///< a[M,K], b[K,N], acc[M,N] -> acc type; f16/bf16/f32 -> f32, f64 -> f64, i8 -> i32

  // Along an axis.
  /// k tiles of one shape -> k tiles without axis `index`; region (a1..ak, b1..bk) -> k scalars,
  /// associative and commutative, of elementwise operations on scalars, constants and grid
  /// positions
  reduce,

  // Control.
  /// lo, hi, step (one integer dtype, step > 0), k inits -> k results; region (i, c1..ck) -> k
  fold,
  if_,    ///< bool scalar -> k results; two regions without arguments -> k
  yield,  ///< last operation of every region but the kernel's body
};

/// Spelling in the text form: "program_id", "if", ...
[[nodiscard]] std::string_view name(Opcode code) noexcept;
/// All opcodes, in order.
[[nodiscard]] const std::vector<Opcode>& all_opcodes();

enum class Predicate : std::uint8_t { eq, ne, lt, le, gt, ge };
[[nodiscard]] std::string_view name(Predicate predicate) noexcept;
/// All predicates, in order.
[[nodiscard]] const std::vector<Predicate>& all_predicates();

/// A hint for caches: keep, or read/write once.
enum class Cache : std::uint8_t { automatic, streaming };
/// How f32 operands of a dot are multiplied.
enum class Precision : std::uint8_t { ieee, tf32 };

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};

struct Block;

/// One operation. A plain value: copying it copies its regions. Attributes that its opcode does not
/// have keep their default.
struct Op {
  Opcode code = Opcode::constant;
  std::vector<ValueId> operands = {};
  std::vector<ValueId> results = {};
  std::vector<Block> regions;  // Block is incomplete here: an initializer would need it whole
  std::uint64_t bits = 0;      ///< constant: the element; load_view: the padding
  std::int64_t index = 0;      ///< axis or start, see Opcode
  std::vector<int> dims = {};  ///< permute
  Predicate predicate = Predicate::eq;    ///< compare
  Cache cache = Cache::automatic;         ///< load, store and their views
  Precision precision = Precision::ieee;  ///< dot
};

/// A list of operations with arguments: a region's or the kernel's body.
struct Block {
  std::vector<ValueId> arguments = {};
  std::vector<Op> ops = {};
};

/// Whether an operation reads or writes memory itself, or (with regions) may inside.
[[nodiscard]] bool writes_memory(const Op& op);
[[nodiscard]] bool reads_memory(const Op& op);
/// The result type cannot be told from operands and attributes and is stated (see Opcode).
[[nodiscard]] bool states_result_type(Opcode code) noexcept;
/// unary, binary, compare, select, fma, cast, bitcast, offset.
[[nodiscard]] bool is_elementwise(Opcode code) noexcept;

}  // namespace teeny::ir
