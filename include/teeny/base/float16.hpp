#pragma once

#include <cstdint>

namespace teeny {

/// IEEE binary16 and bfloat16 as storage types: two bytes, converted by integer arithmetic (the
/// same result on every compiler, target and under -ffast-math), round to nearest even, NaN kept.
/// f64 is rounded once, never through f32.
class f16 {
 public:
  f16() = default;
  explicit f16(float value) noexcept;
  explicit f16(double value) noexcept;
  explicit f16(int value) noexcept : f16(static_cast<double>(value)) {}
  explicit operator float() const noexcept;
  explicit operator double() const noexcept;
  [[nodiscard]] static f16 from_bits(std::uint16_t bits) noexcept {
    f16 result;
    result.bits_ = bits;
    return result;
  }
  [[nodiscard]] std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_;
};

class bf16 {
 public:
  bf16() = default;
  explicit bf16(float value) noexcept;
  explicit bf16(double value) noexcept;
  explicit bf16(int value) noexcept : bf16(static_cast<double>(value)) {}
  explicit operator float() const noexcept;
  explicit operator double() const noexcept;
  [[nodiscard]] static bf16 from_bits(std::uint16_t bits) noexcept {
    bf16 result;
    result.bits_ = bits;
    return result;
  }
  [[nodiscard]] std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_;
};

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);

}  // namespace teeny
