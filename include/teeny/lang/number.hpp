#pragma once

#include <string>
#include <type_traits>

#include "teeny/base/dtype.hpp"

namespace teeny {

namespace lang {

/// See teeny::infinity.
struct Infinity {
  bool negative = false;
  constexpr Infinity operator-() const { return {!negative}; }
};

}  // namespace lang

/// Infinity as a literal of float tiles, and -infinity. Unlike the C++ constant it means the same
/// under -ffast-math.
inline constexpr lang::Infinity infinity{};

namespace lang {

/// A C++ number that may stand beside a tile: 2, 0.5f, true, f16(1.0f), -infinity.
template <class L>
concept Literal = std::is_arithmetic_v<L> || std::is_same_v<L, f16> || std::is_same_v<L, bf16> ||
                  std::is_same_v<L, Infinity>;

template <class L>
inline constexpr bool is_float_literal = std::is_floating_point_v<L> || std::is_same_v<L, f16> ||
                                         std::is_same_v<L, bf16> || std::is_same_v<L, Infinity>;

/// What a literal of type L may become: a bool only a bool, a float only a float.
template <class T, class L>
inline constexpr bool literal_fits =
    std::is_same_v<T, bool>
        ? std::is_same_v<L, bool>
        : !std::is_same_v<L, bool> && (is_float(dtype_of<T>) || !is_float_literal<L>);

/// The value of a literal, its C++ type set aside.
class Number {
 public:
  template <Literal L>
  Number(L value) {  // implicit: a literal is written where a number is wanted
    if constexpr (std::is_same_v<L, bool>) {
      kind_ = Kind::boolean;
      integer_ = value ? 1 : 0;
    } else if constexpr (std::is_same_v<L, Infinity>) {
      kind_ = Kind::infinity;
      integer_ = value.negative ? 1 : 0;
    } else if constexpr (is_float_literal<L>) {
      kind_ = Kind::floating;
      floating_ = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<L>) {
      kind_ = Kind::signed_integer;
      integer_ = static_cast<u64>(static_cast<i64>(value));
    } else {
      kind_ = Kind::unsigned_integer;
      integer_ = static_cast<u64>(value);
    }
  }

  /// The element of `dtype` that stands for this number: floats rounded to nearest even.
  /// Error(input) for a float where an integer is wanted, a bool where a number is (or the
  /// reverse), and an integer outside the range of `dtype`.
  [[nodiscard]] u64 bits(DType dtype) const;
  /// As bits() checks, without throwing: empty, or what is wrong ("300 is outside the range of
  /// u8").
  [[nodiscard]] std::string misfit(DType dtype) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_integer() const noexcept {
    return kind_ == Kind::signed_integer || kind_ == Kind::unsigned_integer;
  }

 private:
  enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, infinity };
  Kind kind_ = Kind::boolean;
  u64 integer_ = 0;
  double floating_ = 0;
};

}  // namespace lang
}  // namespace teeny
