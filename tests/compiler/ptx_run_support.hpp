#pragma once

// Arguments for a kernel that runs on ptx_machine.hpp, and how results are compared.

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/nvptx/nvptx.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/compiler/ptx_machine.hpp"

namespace teeny::compiler::testing {

/// Arguments of one launch: by value, or buffers, which the launch changes.
class Arguments {
 public:
  void add_value(const void* value, std::size_t size) { add(false, value, size, 0); }
  /// The kernel's pointer is `offset` bytes behind a multiple of 16.
  std::vector<char>& add_buffer(std::size_t size, std::size_t offset = 0) {
    add(true, nullptr, size + offset, offset);
    return contents_.back();
  }
  [[nodiscard]] const std::vector<char>& operator[](std::size_t i) const { return contents_.at(i); }

  [[nodiscard]] std::vector<const void*> pointers() {
    addresses_.clear();
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      addresses_.push_back(contents_[i].data() + offsets_[i]);
    }
    std::vector<const void*> list;
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      list.push_back(is_buffer_[i] ? static_cast<const void*>(&addresses_[i]) : addresses_[i]);
    }
    return list;
  }
  void allow_in(PtxMachine& machine) const {
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      if (is_buffer_[i]) {
        machine.allow(contents_[i].data() + offsets_[i], contents_[i].size() - offsets_[i]);
      }
    }
  }

 private:
  void add(bool buffer, const void* value, std::size_t size, std::size_t offset) {
    is_buffer_.push_back(buffer);
    offsets_.push_back(offset);
    contents_.emplace_back(size);
    if (value != nullptr) std::memcpy(contents_.back().data(), value, size);
  }
  std::vector<bool> is_buffer_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<char>> contents_;
  std::vector<const char*> addresses_;
};

inline std::uint64_t element(const std::vector<char>& buffer, DType dtype, std::size_t i) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &buffer[i * size], size);
  return bits;
}

/// Equal but for the sign of zero, NaN for NaN, or floats within the tolerance.
inline bool agree(DType dtype, std::uint64_t want, std::uint64_t have, double absolute,
                  double relative) {
  if (want == have) return true;
  if (!is_float(dtype)) return false;
  const double a = decode(dtype, want);
  const double b = decode(dtype, have);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= absolute + relative * std::fabs(a);
}

inline void fill(std::vector<char>& buffer, DType dtype, std::mt19937_64& random, bool specials) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  static constexpr double special[] = {
      0.0,           -0.0,         1.0,    -1.0,     0.5,       1.5,     2.5,
      -2.5,          127.5,        255.5,  -129.0,   65504.0,   65520.0, 2147483648.0,
      -2147483649.0, 4294967296.0, 9.3e18, -9.3e18,  1.9e19,    1e-40,   1e-7,
      1e30,          -1e38,        1e300,  HUGE_VAL, -HUGE_VAL, NAN};
  for (std::size_t i = 0; i < buffer.size() / size; ++i) {
    std::uint64_t bits = random();
    if (dtype == DType::boolean) bits &= 1;
    if (is_float(dtype) && (!specials || bits % 4 == 0)) {
      bits = encode(dtype, std::ldexp(static_cast<double>(bits >> 11), -51) - 2);
    } else if (is_float(dtype)) {
      if (bits % 4 != 1) bits = encode(dtype, special[bits / 4 % std::size(special)]);
    } else if (specials && bits % 4 == 0) {
      bits = encode(dtype, static_cast<std::int64_t>(bits / 4 % 5) - 2);
      if (dtype == DType::boolean) bits &= 1;
    }
    std::memcpy(&buffer[i * size], &bits, size);
  }
}

/// Runs one block, the first thread first and then the last one first; what it did to memory.
inline GlobalAccesses run_on_machine(const Artifact& artifact, Arguments& found,
                                     const std::array<std::uint32_t, 3>& position,
                                     const std::array<std::uint32_t, 3>& grid) {
  PtxMachine machine(artifact.code, artifact.info.shared_bytes);
  found.allow_in(machine);
  Arguments again = found;
  machine.run(found.pointers(), position, grid, true);
  PtxMachine other(artifact.code, artifact.info.shared_bytes);
  again.allow_in(other);
  other.run(again.pointers(), position, grid, false);
  for (std::size_t i = 0; i < artifact.info.parameters.size(); ++i) {
    EXPECT_EQ(found[i], again[i]) << "the order of threads shows in parameter " << i;
  }
  return machine.accesses();
}

}  // namespace teeny::compiler::testing
