#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "teeny/base/float16.hpp"

namespace teeny {

/// Element types of tiles and buffers. The numeric values are part of no file format.
enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64
};

// After the enumeration, whose members would shadow them otherwise.
using f32 = float;
using f64 = double;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// All of them, in declaration order.
inline constexpr DType all_dtypes[] = {
    DType::boolean, DType::i8,  DType::i16, DType::i32,  DType::i64, DType::u8, DType::u16,
    DType::u32,     DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64};

/// "bool", "i8", ..., "f64": the spelling of the IR text, manifests and messages.
[[nodiscard]] std::string_view name(DType dtype) noexcept;
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view text) noexcept;

/// Bytes of one element in memory (bool: 1).
[[nodiscard]] constexpr int size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8:
      return 1;
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i32:
    case DType::u32:
    case DType::f32:
      return 4;
    case DType::i64:
    case DType::u64:
    case DType::f64:
      return 8;
  }
  return 0;
}

/// Bits of one element as a value (bool: 1).
[[nodiscard]] constexpr int bits_of(DType dtype) noexcept {
  return dtype == DType::boolean ? 1 : 8 * size_of(dtype);
}

[[nodiscard]] constexpr bool is_float(DType dtype) noexcept { return dtype >= DType::f16; }
[[nodiscard]] constexpr bool is_signed_int(DType dtype) noexcept {
  return dtype >= DType::i8 && dtype <= DType::i64;
}
[[nodiscard]] constexpr bool is_unsigned_int(DType dtype) noexcept {
  return dtype >= DType::u8 && dtype <= DType::u64;
}
/// Integers of either sign; bool is not one.
[[nodiscard]] constexpr bool is_int(DType dtype) noexcept {
  return is_signed_int(dtype) || is_unsigned_int(dtype);
}

/// C++ type -> DType. Using it with any other type does not compile.
template <class T>
struct dtype_of_t;
template <>
struct dtype_of_t<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct dtype_of_t<i8> {
  static constexpr DType value = DType::i8;
};
template <>
struct dtype_of_t<i16> {
  static constexpr DType value = DType::i16;
};
template <>
struct dtype_of_t<i32> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of_t<i64> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of_t<u8> {
  static constexpr DType value = DType::u8;
};
template <>
struct dtype_of_t<u16> {
  static constexpr DType value = DType::u16;
};
template <>
struct dtype_of_t<u32> {
  static constexpr DType value = DType::u32;
};
template <>
struct dtype_of_t<u64> {
  static constexpr DType value = DType::u64;
};
template <>
struct dtype_of_t<f16> {
  static constexpr DType value = DType::f16;
};
template <>
struct dtype_of_t<bf16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct dtype_of_t<f32> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of_t<f64> {
  static constexpr DType value = DType::f64;
};

template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

/// An element type: what a tile or a buffer may hold.
template <class T>
concept Element = requires { dtype_of_t<T>::value; };

/// The 64 low bits that represent `value` in `dtype`: floats rounded to nearest even, integers
/// wrapped, bool 0 or 1; unused high bits are zero. The IR's constants are these bits.
[[nodiscard]] u64 encode(DType dtype, double value) noexcept;
[[nodiscard]] u64 encode(DType dtype, i64 value) noexcept;
[[nodiscard]] u64 encode(DType dtype, u64 value) noexcept;
/// The value that `bits` represent (exact, except i64/u64 beyond 2^53, which round).
[[nodiscard]] double decode(DType dtype, u64 bits) noexcept;

}  // namespace teeny
