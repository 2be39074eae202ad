#pragma once

// The run-time members of a kernel as text: the same on every compiler and machine, different for
// different values.

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/base/dtype.hpp"

namespace teeny::lang {

template <class K>
concept HasMembersText = requires(const K& k) {
  { k.members() } -> std::convertible_to<std::string>;
};

/// Converts to whatever a field is: for counting fields, never called.
struct AnyField {
  template <class T>
  operator T() const;
};

template <class K, class... Field>
concept InitialisedBy = requires { K{std::declval<Field>()...}; };

template <std::size_t>
using AnyFieldAt = AnyField;

inline constexpr std::size_t max_members = 12;

template <class K, std::size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return InitialisedBy<K, AnyFieldAt<I>...>;
}

/// How many fields aggregate K has; max_members + 1 for more.
template <class K, std::size_t N = max_members + 1>
constexpr std::size_t field_count() {
  if constexpr (N == 0) {
    return 0;
  } else if constexpr (takes_fields<K>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return field_count<K, N - 1>();
  }
}

/// `f(field...)` with all fields of an aggregate, in order; what it returns.
template <class K, class F>
decltype(auto) with_fields(const K& k, F f) {
  constexpr std::size_t n = field_count<K>();
  static_assert(n <= max_members,
                "a kernel has at most 12 run-time members: group them in structs, or supply "
                "`std::string members() const`");
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    const auto& [a] = k;
    return f(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = k;
    return f(a, b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = k;
    return f(a, b, c);
  } else if constexpr (n == 4) {
    const auto& [a, b, c, d] = k;
    return f(a, b, c, d);
  } else if constexpr (n == 5) {
    const auto& [a, b, c, d, e] = k;
    return f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    const auto& [a, b, c, d, e, g] = k;
    return f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    const auto& [a, b, c, d, e, g, h] = k;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    const auto& [a, b, c, d, e, g, h, i] = k;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    const auto& [a, b, c, d, e, g, h, i, j] = k;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    const auto& [a, b, c, d, e, g, h, i, j, l] = k;
    return f(a, b, c, d, e, g, h, i, j, l);
  } else if constexpr (n == 11) {
    const auto& [a, b, c, d, e, g, h, i, j, l, m] = k;
    return f(a, b, c, d, e, g, h, i, j, l, m);
  } else if constexpr (n == 12) {
    const auto& [a, b, c, d, e, g, h, i, j, l, m, o] = k;
    return f(a, b, c, d, e, g, h, i, j, l, m, o);
  }
}

/// `f` on each field of an aggregate, in order.
template <class K, class F>
void for_each_field(const K& k, F f) {
  with_fields(k, [&](const auto&... field) { (f(field), ...); });
}

void append_hex(std::string& text, u64 value, int digits);

/// char and wchar_t are signed on some machines and not on others: their values as unsigned ones.
template <class T>
constexpr auto integer_value(T value) {
  if constexpr (std::is_same_v<T, char> || std::is_same_v<T, wchar_t>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return value;
  }
}

template <class T>
struct is_sequence : std::false_type {};
template <class T, std::size_t N>
struct is_sequence<std::array<T, N>> : std::true_type {};
template <class T, class A>
struct is_sequence<std::vector<T, A>> : std::true_type {};

/// One member: bool, integers and enumerations in decimal (char and wchar_t as unsigned), floats as
/// their bits, DType by name, strings with their length, sequences in brackets, aggregates in
/// braces.
template <class T>
void append_member(std::string& text, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, DType>) {
    text += name(value);
  } else if constexpr (std::is_enum_v<T>) {
    append_member(text, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    text += std::to_string(integer_value(value));
  } else if constexpr (std::is_same_v<T, f32> || std::is_same_v<T, f64>) {
    std::conditional_t<sizeof(T) == 4, u32, u64> bits;
    std::memcpy(&bits, &value, sizeof bits);
    append_hex(text, bits, 2 * static_cast<int>(sizeof bits));
  } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    append_hex(text, value.bits(), 4);
  } else if constexpr (std::is_same_v<T, std::string>) {
    text += std::to_string(value.size()) + ":" + value;
  } else if constexpr (is_sequence<T>::value) {
    text += '[';
    bool first = true;
    for (const auto& element : value) {
      if (!first) text += ',';
      first = false;
      append_member<typename T::value_type>(text, element);
    }
    text += ']';
  } else {
    static_assert(std::is_aggregate_v<T>,
                  "run-time members of a kernel are bool, integers, floats, enumerations, DType, "
                  "std::string, std::array, std::vector or aggregates of those; otherwise supply "
                  "`std::string members() const`");
    text += '{';
    bool first = true;
    for_each_field(value, [&](const auto& field) {
      if (!first) text += ',';
      first = false;
      append_member(text, field);
    });
    text += '}';
  }
}

/// "" for a kernel without run-time members.
template <class K>
std::string members_text(const K& kernel) {
  if constexpr (HasMembersText<K>) {
    return kernel.members();
  } else if constexpr (std::is_empty_v<K>) {
    return {};
  } else {
    static_assert(std::is_aggregate_v<K>,
                  "a kernel with constructors or private members needs `std::string members() "
                  "const`: text that differs when its run-time members do");
    std::string text;
    if constexpr (std::is_aggregate_v<K>) append_member(text, kernel);
    return text;
  }
}

/// Whether the text of two members would be the same, without making it.
template <class T>
bool same_member(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::memcmp(&a, &b, sizeof a) == 0;  // a NaN is the same as itself, 0 is not -0
  } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    return a.bits() == b.bits();
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T> ||
                       std::is_same_v<T, std::string>) {
    return a == b;
  } else if constexpr (is_sequence<T>::value) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same_member<typename T::value_type>(a[i], b[i])) return false;
    }
    return true;
  } else {
    return with_fields(a, [&](const auto&... x) {
      return with_fields(b, [&](const auto&... y) { return (same_member(x, y) && ...); });
    });
  }
}

/// Whether `members_text` of two kernels of one type is the same. Allocates nothing unless the
/// kernel has a `members()` of its own.
template <class K>
bool same_members(const K& a, const K& b) {
  if constexpr (HasMembersText<K>) {
    return a.members() == b.members();
  } else if constexpr (std::is_empty_v<K>) {
    return true;
  } else {
    return same_member(a, b);
  }
}

/// Mixes a value into a hash: quick, and good enough for a table of some dozens.
constexpr u64 mix(u64 hash, u64 value) noexcept {
  const u64 mixed = (hash ^ value) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 29;
}

template <class T>
u64 hash_member(u64 hash, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return mix(hash, static_cast<u64>(static_cast<std::underlying_type_t<T>>(value)));
  } else if constexpr (std::is_integral_v<T>) {
    return mix(hash, static_cast<u64>(value));
  } else if constexpr (std::is_same_v<T, f32> || std::is_same_v<T, f64>) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return mix(hash, bits);
  } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    return mix(hash, value.bits());
  } else if constexpr (std::is_same_v<T, std::string>) {
    for (const char c : value) hash = mix(hash, static_cast<unsigned char>(c));
    return mix(hash, value.size());
  } else if constexpr (is_sequence<T>::value) {
    for (const auto& element : value) hash = hash_member<typename T::value_type>(hash, element);
    return mix(hash, value.size());
  } else {
    with_fields(value, [&](const auto&... field) { ((hash = hash_member(hash, field)), ...); });
    return hash;
  }
}

/// The same for kernels whose `members_text` is the same; 0 where that is the kernel's own text.
template <class K>
u64 hash_members(const K& kernel) {
  if constexpr (HasMembersText<K> || std::is_empty_v<K>) {
    return 0;
  } else {
    return hash_member(0, kernel);
  }
}

}  // namespace teeny::lang
