#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "teeny/ir/op.hpp"

namespace teeny::ir {

/// Options of a kernel instance that change its code.
struct KernelOptions {
  int num_warps = 4;      ///< threads of a block / 32: 1, 2, 4, 8, 16 or 32
  int num_stages = 1;     ///< depth of software pipelining of loads: 1 to 16
  int max_registers = 0;  ///< 0: the assembler's choice; else 16 to 255
  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

/// A traced kernel: one function run once per program of the grid.
struct Kernel {
  std::string
      name;  ///< an identifier ([A-Za-z_][A-Za-z0-9_]*); also the entry symbol of every artifact
  KernelOptions options = {};
  Block body = {};                ///< its arguments are the kernel's parameters, scalars all
  std::vector<Type> values = {};  ///< type of every ValueId

  [[nodiscard]] const Type& type(ValueId value) const { return values.at(value); }
  [[nodiscard]] std::vector<Type> parameters() const;
};

inline constexpr int max_nesting = 64;               ///< regions inside one another
inline constexpr std::size_t max_name_length = 128;  ///< characters of a kernel's name

/// Version of the text form, of the semantics above and of what a fingerprint covers.
inline constexpr int ir_version = 1;

/// Version of how an artifact is called: recorded in it, checked where it is launched.
///  * CUDA: entry NAME, one parameter each in order (pointers u64, others by value), then nothing;
///    threads = 32 * num_warps; dynamic shared memory as recorded.
///  * CPU: `void NAME(const void* const* arguments, const std::uint32_t* position, const
///    std::uint32_t* grid, void* scratch)`: arguments[i] points at parameter i's value, position
///    and grid are three numbers each, scratch has the recorded size, 64-byte aligned.
inline constexpr int launch_abi = 1;

}  // namespace teeny::ir
